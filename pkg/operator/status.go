package operator

import (
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

// statusController tells people and Prometheus what the features publish. The metrics are
// served with those of library-go.
func (s starter) statusController() factory.Controller {
	sources := status.Sources{
		Clusters:    s.clusters,
		Connections: s.reports.connections,
		Users:       s.reports.users,
		Pools:       s.reports.pools,
		Capacities:  s.reports.capacities,
		MonSync:     s.reports.monSync,
		WrittenMons: s.reports.writtenMons,
		Tags:        s.reports.tags,
		Machines:    s.reports.machines,
		Nodes:       s.reports.nodes,
		Expiries: servingcerts.Expiries(s.clients.ns().Core().V1().Secrets().Lister().Secrets(driver.Namespace),
			s.driver.ServingCertSecret(), s.driver.MetricsCertSecret()),
		Usage:     s.usage,
		Placement: s.granted,
	}
	legacyregistry.CustomMustRegister(status.NewMetrics(sources, clock.RealClock{}))
	return status.New(status.Config{
		Sources:    sources,
		Driver:     s.driver,
		Operator:   s.clients.operator,
		Client:     s.clients.kube.CoreV1(),
		ConfigMaps: s.clients.ns().Core().V1().ConfigMaps(),
		Clock:      clock.RealClock{},
		Recorder:   s.recorder,
	})
}
