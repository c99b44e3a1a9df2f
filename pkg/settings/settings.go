// Package settings holds what an administrator set in spec.driverConfig.ceph: settings that are
// valid are kept in an annotation, too, which is in force where a CRD that does not know them has
// dropped them from the spec, and in the state ConfigMap, whose go on while others are not valid.
package settings

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// errNotRead says that it is not known yet which settings were valid last.
var errNotRead = errors.New("what is remembered has not been read yet")

// Reader reads the settings in force. All fields are required.
type Reader struct {
	Driver driver.Driver
	// Resource returns the ClusterCSIDriver, with all that the API server sends of it; nil
	// without one.
	Resource func() (*unstructured.Unstructured, error)
	// Last loads the settings that were valid last, Synced says that they can be loaded.
	Last   func() (state.Settings, bool, error)
	Synced func() bool
	// Before keeps, for this process, those that were in force last.
	Before *ctrl.Latest[InForce]
}

// InForce are the settings of one ClusterCSIDriver, which another one of its name does not inherit.
type InForce struct {
	Of       types.UID
	Settings driver.Settings
}

// Current returns the settings in force: those of the ClusterCSIDriver if they are valid, else
// those that were valid last. Defaults are no substitute: they could take away a mounter, a
// pool or the whole Ceph cluster. So it fails where nothing is remembered.
func (r Reader) Current() (driver.Settings, error) {
	cr, err := r.Resource()
	if err != nil {
		return driver.Settings{}, err
	}
	last, found, err := r.Last()
	stand, problem := declaredIn(r.Driver, cr, last)
	if (problem != nil || stand.pruned) && !r.Synced() {
		return driver.Settings{}, errors.Join(problem, errNotRead)
	}
	settings := driver.Settings{}
	if problem == nil {
		settings, problem = stand.settings(r.Driver)
	}
	if problem == nil {
		if cr != nil {
			r.Before.Set(InForce{cr.GetUID(), settings})
		}
		return settings, nil
	}
	if !r.Synced() {
		return driver.Settings{}, errors.Join(problem, errNotRead)
	}
	before, known := r.Before.Get()
	if err == nil && !found && known && before.Of == cr.GetUID() && errors.Is(problem, driver.ErrPrunedSettings) {
		return before.Settings, nil // Whoever keeps the settings asks the API server whether it has them.
	}
	if err != nil || !found {
		return driver.Settings{}, errors.Join(problem, err)
	}
	settings, err = driver.ParseSettings(r.Driver, driver.MemberPath, last.Ceph)
	if err != nil {
		return driver.Settings{}, problem
	}
	return settings, nil
}
