package operator

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// clusterCSIDrivers are what the settings are of.
var clusterCSIDrivers = operatorv1.GroupVersion.WithResource("clustercsidrivers")

// settingsReader reads those in force: of the ClusterCSIDriver, or those that were valid last.
func (c *clients) settingsReader() settings.Reader {
	return settings.Reader{
		Driver:   c.Driver,
		Resource: c.resource,
		Last:     state.LastSettings(c.record()).Load,
		Synced:   c.ConfigMaps.Informer().HasSynced,
		Before:   &c.settingsBefore,
	}
}

func (c *clients) settingsController() factory.Controller {
	return settings.New(settings.Config{
		Env: c.Env, Reader: c.settingsReader(), Save: state.LastSettings(c.record()).Save, Read: state.LastSettings(c.record()).Read,
		Live: func(ctx context.Context) (*unstructured.Unstructured, error) {
			return c.Dynamic.Resource(clusterCSIDrivers).Get(ctx, c.Driver.Name, metav1.GetOptions{})
		},
		Apply: func(ctx context.Context, cr *unstructured.Unstructured, manager string) error {
			_, err := c.Dynamic.Resource(clusterCSIDrivers).Apply(ctx, cr.GetName(), cr, metav1.ApplyOptions{FieldManager: manager, Force: true})
			return err
		},
	})
}

func (c *clients) infraIDController(cluster *ctrl.Latest[ceph.Cluster]) factory.Controller {
	record := state.InfraIDs(c.record())
	return infraid.New(infraid.Config{Env: c.Env, Said: c.said.Config().V1().Infrastructures(), Memory: c.infraID, Save: record.Save, Cluster: cluster})
}

// resource is the ClusterCSIDriver as the API server gives it; nil without one.
func (c *clients) resource() (*unstructured.Unstructured, error) {
	object, err := c.operatorInstances.ForResource(clusterCSIDrivers).Lister().Get(c.Driver.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	cr, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("ClusterCSIDriver %s is a %T", c.Driver.Name, object)
	}
	return cr, nil
}
