package operator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
)

// lookForHeld counts, past all caches, what only the driver can detach or delete. It asks for the CRD of
// snapshots before and after: their list may be that of one which comes or goes.
func (s starter) lookForHeld(ctx context.Context) (removal.Held, error) {
	var held removal.Held
	before, err := s.snapshotsDefined(ctx)
	if err != nil {
		return held, err
	}
	if before {
		if held.Snapshots, err = s.contentsOfDriver(ctx); err != nil {
			return held, err
		}
	}
	after, err := s.snapshotsDefined(ctx)
	if err != nil {
		return held, err
	}
	if before != after {
		return held, fmt.Errorf("CustomResourceDefinition %s has just come or gone, so that snapshots cannot be seen", ctrl.SnapshotContents.GroupResource())
	}
	if held.Volumes, err = s.volumesOfDriver(ctx); err != nil {
		return held, err
	}
	held.Attachments, err = s.attachments(ctx)
	return held, err
}

// eachPage lists page by page. Without a resourceVersion, etcd's quorum answers, and no cache.
func eachPage(ctx context.Context, name string, list func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error)) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := list(ctx, options)
		if err != nil {
			return fmt.Errorf("listing %s: %w", name, err)
		}
		if options.Continue = got.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (s starter) volumesOfDriver(ctx context.Context) (int, error) {
	count := 0
	err := eachPage(ctx, volumesName, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := s.clients.kube.CoreV1().PersistentVolumes().List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if s.driver.Serves(&list.Items[i]) {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

func (s starter) attachments(ctx context.Context) (int, error) {
	count := 0
	err := eachPage(ctx, "VolumeAttachments", func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := s.clients.kube.StorageV1().VolumeAttachments().List(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, a := range list.Items {
			if a.Spec.Attacher == s.driver.Name {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

func (s starter) contentsOfDriver(ctx context.Context) (int, error) {
	count := 0
	err := eachPage(ctx, snapshotsName, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := s.clients.dynamic.Resource(ctrl.SnapshotContents).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if textOf(&list.Items[i], "spec", "driver") == s.driver.Name {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

// snapshotsDefined says whether the CRD of snapshots is there. While it comes or goes, that is not known.
func (s starter) snapshotsDefined(ctx context.Context) (bool, error) {
	crd, err := s.snapshotsCRD(ctx)
	if err != nil || crd == nil {
		return false, err
	}
	return true, established(crd)
}

// snapshotsCRD is the CRD of snapshots as etcd has it; nil without one.
func (s starter) snapshotsCRD(ctx context.Context) (*unstructured.Unstructured, error) {
	name := ctrl.SnapshotContents.GroupResource().String()
	list, err := s.clients.dynamic.Resource(ctrl.CRDs).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

// established fails unless a CRD is there to stay.
func established(crd *unstructured.Unstructured) error {
	if crd.GetDeletionTimestamp() != nil || conditionOf(crd, "Terminating") == "True" || conditionOf(crd, "Established") != "True" {
		return fmt.Errorf("CustomResourceDefinition %s is not established, or is being removed, so that snapshots cannot be seen", crd.GetName())
	}
	return nil
}
