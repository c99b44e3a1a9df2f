package clusterstorage

import (
	"context"
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// SignerSecret has the CA of clusters without OpenShift, with its key.
	SignerSecret = Name + "-signer"
	// CertificateSecret has the serving certificate of `cluster-storage`.
	CertificateSecret = Name + "-serving-cert"
)

// servingCertificates does what OpenShift's service CA does for the Services of the namespace.
//
// It produces the condition CephServingCertificatesDegraded.
func (s starter) servingCertificates() factory.Controller {
	services := s.clients.ns().Core().V1().Services()
	secrets, configMaps := s.clients.certificates.Core().V1().Secrets(), s.clients.certificates.Core().V1().ConfigMaps()
	keeper := servingcerts.Keeper{
		Namespace: driver.Namespace, Signer: SignerSecret, Bundle: servingcerts.BundleConfigMap,
		Client: s.clients.kube, Secrets: secrets, ConfigMaps: configMaps, Recorder: s.recorder,
	}
	return s.controller(controller{
		name: strings.TrimSuffix(condition.ServingCertificatesDegraded, operatorv1.OperatorStatusTypeDegraded), always: true,
		informers: []factory.Informer{services.Informer(), secrets.Informer(), configMaps.Informer()},
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			if !s.managed() {
				return nil
			}
			all, err := services.Lister().Services(driver.Namespace).List(labels.Everything())
			if err != nil {
				return fmt.Errorf("listing Services: %w", err)
			}
			return keeper.Sync(ctx, all)
		},
	})
}
