package operator

import (
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

// status tells people and Prometheus what the features publish. The metrics are served with those of library-go.
func (c *clients) status(sources status.Sources) factory.Controller {
	sources.Expiries = servingcerts.Expiries(c.Secrets.Lister().Secrets(driver.Namespace), c.Driver.ServingCertSecret(), c.Driver.MetricsCertSecret())
	legacyregistry.CustomMustRegister(status.NewMetrics(sources, c.Clock))
	return status.New(status.Config{Env: c.Env, Sources: sources})
}
