// Package classes keeps what users name in their claims: the default StorageClass, through
// hooks of library-go's controller, and the snapshot classes, which library-go knows in part.
// A class of our name that is somebody else's is left alone.
package classes

import (
	"context"
	"errors"
	"fmt"
	"maps"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csistorageclasscontroller"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Why a StorageClass is not touched.
var (
	// ErrUndecided says that neither Ceph nor a class that exists tells the parameters.
	ErrUndecided = errors.New("parameters are not known yet")
	// ErrForeign says that the class is somebody else's.
	ErrForeign = errors.New("belongs to somebody else")
)

// StorageClass is what the hook of library-go's StorageClass controller rests on.
type StorageClass struct {
	ctrl.Env
	// Manifest is the asset, without the parameters of the Ceph cluster.
	Manifest []byte
	// Placement is where volumes go; empty until pkg/pools knows.
	Placement *ctrl.Latest[ceph.Placement]
	// InUse says whether disk images of virtual machines use a StorageClass: their platform then
	// lets nobody delete it, so that it cannot be made anew with other parameters.
	InUse func(class string) bool
	// State is spec.storageClassState.
	State func() (operatorv1.StorageClassStateName, error)
	// Held is the state that the class cannot follow for that reason: Managed, with other
	// parameters, or Removed. It is empty while nothing is held up.
	Held ctrl.Latest[operatorv1.StorageClassStateName]
	// Record has what users gave the class while it is being made anew.
	Record state.Store[state.Class]
	// decided is what a sync has found once: what library-go then deletes the class for is what was
	// recorded and tried before, though settings change meanwhile.
	decided ctrl.Latest[Decision]
}

// Matters says of what an event carries that library-go's controller reads it: the class of our name, and
// others that are the default one. Each sync asks the API server for ours, and classes come and go by the hundred.
func (s *StorageClass) Matters(object any) bool {
	class, ok := ctrl.Object(object).(*storagev1.StorageClass)
	return ok && (class.Name == s.Driver.StorageClass || class.Annotations[defaultAnnotation] == "true")
}

// Decision are the parameters that the class gets besides what the asset has, or why they are not known.
type Decision struct {
	Parameters map[string]string
	Undecided  error
}

// Guard runs library-go's controller where it may run. It must not where the class is foreign or
// where disk images use it, neither of which may be deleted, nor where the hook could only fail.
func (s *StorageClass) Guard(inner factory.SyncFunc) factory.SyncFunc {
	return func(ctx context.Context, syncCtx factory.SyncContext) error {
		parameters, undecided := s.parameters()
		s.decided.Set(Decision{Parameters: parameters, Undecided: undecided})
		defer s.decided.Clear()
		ready, held, err := s.ready()
		if err != nil {
			return err
		}
		if !ready {
			s.Held.Set(held)
			return nil
		}
		if current, err := s.keep(ctx); err != nil || !current {
			return err // What the cache lacks wakes the controller when it comes.
		}
		return inner(ctx, syncCtx)
	}
}

// ready says whether library-go's controller may run, and otherwise which state is held up.
func (s *StorageClass) ready() (ready bool, held operatorv1.StorageClassStateName, err error) {
	existing, err := s.existing()
	if err != nil {
		return false, "", err
	}
	if existing == nil {
		_, undecided := s.parameters()
		return undecided == nil, "", nil
	}
	if s.Driver.Foreign(existing) {
		return false, "", nil
	}
	state, err := s.State()
	if err != nil {
		return false, "", err
	}
	if state == operatorv1.RemovedStorageClass && s.InUse(existing.Name) {
		return false, state, nil
	}
	return true, "", nil
}

// parameters are those of the decision that stands, or of a new one.
func (s *StorageClass) parameters() (map[string]string, error) {
	if d, stands := s.decided.Get(); stands {
		return d.Parameters, d.Undecided
	}
	place, decided := s.Placement.Get()
	if !decided {
		return nil, ErrUndecided
	}
	settings, err := s.Settings()
	if err != nil {
		// pkg/settings tells of it.
		return nil, ErrUndecided
	}
	return volumeParameters(s.Driver, place, settings), nil
}

// Hook completes the StorageClass of the asset. While placement or settings are not known, a class that
// exists keeps its parameters: library-go deletes and recreates on any difference. So it does while
// disk images use it.
func (s *StorageClass) Hook() csistorageclasscontroller.StorageClassHookFunc {
	return func(_ *operatorv1.OperatorSpec, class *storagev1.StorageClass) error {
		existing, err := s.existing()
		if err != nil {
			return err
		}
		if existing != nil && s.Driver.Foreign(existing) {
			return fmt.Errorf("StorageClass %s %w", class.Name, ErrForeign)
		}
		parameters, undecided := s.parameters()
		if undecided != nil && existing == nil {
			return fmt.Errorf("StorageClass %s: %w", class.Name, undecided)
		}
		state, err := s.State()
		if err != nil {
			return err
		}
		metav1.SetMetaDataLabel(&class.ObjectMeta, driver.ManagedByLabel, s.Driver.OperatorName())
		asset := class.Parameters
		class.Parameters = with(asset, parameters)
		var held operatorv1.StorageClassStateName
		keeps := undecided != nil
		if existing != nil && undecided == nil && state != operatorv1.UnmanagedStorageClass &&
			!maps.Equal(existing.Parameters, class.Parameters) && s.InUse(class.Name) {
			keeps = true
			// What a newer version has besides, no setting takes back.
			if !maps.Equal(with(asset, existing.Parameters), class.Parameters) {
				held = operatorv1.ManagedStorageClass
			}
		}
		if keeps {
			class.Parameters = maps.Clone(existing.Parameters)
		}
		s.Held.Set(held)
		return nil
	}
}

// with are parameters, and others, which are the ones that count.
func with(parameters, others map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, parameters)
	maps.Copy(out, others)
	return out
}

// current says whether the cache has what the API server has of the class. By an older one, what is remembered of
// a class that is gone would be forgotten, and library-go would fail.
func (s *StorageClass) current(ctx context.Context) (bool, error) {
	existing, err := s.existing()
	if err != nil {
		return false, err
	}
	live, err := s.Kube.StorageV1().StorageClasses().Get(ctx, s.Driver.StorageClass, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return existing == nil, nil
	case err != nil:
		return false, fmt.Errorf("reading StorageClass %s: %w", s.Driver.StorageClass, err)
	}
	return existing != nil && existing.ResourceVersion == live.ResourceVersion, nil
}

// existing returns the class of our name, or nil.
func (s *StorageClass) existing() (*storagev1.StorageClass, error) {
	class, err := s.StorageClasses.Lister().Get(s.Driver.StorageClass)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading StorageClass %s: %w", s.Driver.StorageClass, err)
	}
	return class, nil
}
