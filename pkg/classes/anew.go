package classes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// defaultAnnotation makes a StorageClass that of claims which name none.
const defaultAnnotation = "storageclass.kubernetes.io/is-default-class"

// keep sees to it that a class which library-go deletes and creates for its immutable fields gets
// back what users gave it, above all whether it is the default, also when the process ends in
// between. It returns whether the cache is current; where it is not, nothing is done.
func (s *StorageClass) keep(ctx context.Context) (bool, error) {
	s.Remembering.Lock()
	defer s.Remembering.Unlock()
	current, err := s.current(ctx)
	if err != nil || !current {
		return false, err
	}
	return true, s.remember(ctx)
}

func (s *StorageClass) remember(ctx context.Context) error {
	managed, err := ctrl.ManagementState(s.Operator, s.Driver.Name)
	if err != nil || managed != operatorv1.Managed {
		return err
	}
	classState, err := s.State()
	if err != nil || classState == operatorv1.UnmanagedStorageClass {
		return err
	}
	existing, err := s.existing()
	if err != nil {
		return err
	}
	last, recorded, err := s.Record.Load()
	if existing == nil && classState != operatorv1.RemovedStorageClass {
		last, recorded, err = s.Record.Read(ctx)
	}
	if err != nil {
		return err
	}
	wanted := resourceread.ReadStorageClassV1OrDie(s.Manifest)
	if err := s.Hook()(nil, wanted); err != nil {
		return err
	}
	next, lost := anew(classState, existing, wanted, last)
	if lost != nil {
		if err := s.withoutSecondDefault(lost); err != nil {
			return err
		}
	}
	if lost != nil {
		_, err := s.Kube.StorageV1().StorageClasses().Create(ctx, lost, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating StorageClass %s, which was deleted to be made anew: %w", lost.Name, err)
		}
	}
	if !recorded && next.UID == "" {
		return nil
	}
	if next.UID != "" && existing != nil {
		_, successor := anew(classState, nil, wanted, next)
		if err := s.admitted(ctx, successor); err != nil {
			return err
		}
	}
	return s.Record.Save(ctx, next)
}

// withoutSecondDefault takes the mark of the default from a class that comes back where another one has
// got it meanwhile.
func (s *StorageClass) withoutSecondDefault(lost *storagev1.StorageClass) error {
	all, err := s.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing StorageClasses: %w", err)
	}
	isDefault := func(class *storagev1.StorageClass) bool { return class.Annotations[defaultAnnotation] == "true" }
	if isDefault(lost) && slices.ContainsFunc(all, isDefault) {
		lost.Annotations[defaultAnnotation] = "false"
	}
	return nil
}

// admitted fails where the class cannot be made anew: what admission refuses must not cost users the
// class that there is. The usual answer is that it exists.
func (s *StorageClass) admitted(ctx context.Context, successor *storagev1.StorageClass) error {
	_, err := s.Kube.StorageV1().StorageClasses().Create(ctx, successor, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making StorageClass %s anew: %w", successor.Name, err)
	}
	return nil
}

// anew returns what is to be remembered, and the class that somebody has to create because the
// process ended after its deletion:
//
//	class   | is to change for good | remembered | remember | create
//	there   | yes                   |            | the class | –
//	there   | no                    |            | nothing  | –
//	missing |                       | a class    | the same | wanted, with what was remembered
//	missing |                       | nothing    | nothing  | –
//	Removed |                       |            | nothing  | –
func anew(classState operatorv1.StorageClassStateName, existing, wanted *storagev1.StorageClass, last state.Class) (state.Class, *storagev1.StorageClass) {
	switch {
	case classState == operatorv1.RemovedStorageClass:
		return state.Class{}, nil
	case existing != nil && differ(existing, wanted):
		return state.ClassOf(existing), nil
	case existing != nil || last.UID == "":
		return state.Class{}, nil
	}
	lost := wanted.DeepCopy()
	delete(lost.Annotations, defaultAnnotation)
	lost.Annotations = with(lost.Annotations, last.Annotations)
	maps.Copy(lost.Labels, last.Labels)
	return last, lost
}

// differ says whether a class must be made anew to be as wanted.
func differ(existing, wanted *storagev1.StorageClass) bool {
	return !equality.Semantic.DeepEqual(existing.Parameters, wanted.Parameters) ||
		!equality.Semantic.DeepEqual(existing.ReclaimPolicy, wanted.ReclaimPolicy) ||
		!equality.Semantic.DeepEqual(existing.VolumeBindingMode, wanted.VolumeBindingMode)
}
