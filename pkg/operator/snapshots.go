package operator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var snapshotContents = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}

// snapshots has the handles of a driver's snapshots, while the CRD of VolumeSnapshotContents exists:
// an informer of a kind that the API server does not know would fail for ever.
type snapshots struct {
	client dynamic.Interface
	driver string
	// served says whether the CRD exists.
	served func() bool

	informer cache.SharedIndexInformer
	stop     context.CancelFunc
}

// follow starts or ends the watch as the CRD demands, and says whether all snapshots are known. wake
// is called for each change until ctx ends. One worker calls follow and handles.
func (s *snapshots) follow(ctx context.Context, wake func()) (bool, error) {
	if !s.served() {
		if s.stop != nil {
			s.stop()
		}
		s.stop, s.informer = nil, nil
		return true, nil
	}
	if s.stop == nil {
		if err := s.start(ctx, wake); err != nil {
			return false, fmt.Errorf("watching VolumeSnapshotContents: %w", err)
		}
	}
	return s.informer.HasSynced(), nil
}

// handles are those of the driver's snapshots.
func (s *snapshots) handles() []string {
	if s.informer == nil {
		return nil
	}
	var out []string
	for _, object := range s.informer.GetStore().List() {
		if handle := handleOf(object); handle != "" {
			out = append(out, handle)
		}
	}
	return out
}

func (s *snapshots) start(ctx context.Context, wake func()) error {
	s.informer = dynamicinformer.NewFilteredDynamicInformer(s.client, snapshotContents, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	if err := s.informer.SetTransform(s.trim); err != nil {
		return err
	}
	_, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { wake() },
		UpdateFunc: func(before, after any) {
			if handleOf(before) != handleOf(after) {
				wake()
			}
		},
		DeleteFunc: func(any) { wake() },
	})
	if err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go s.informer.RunWithContext(ctx)
	return nil
}

// trim keeps the handle of the driver's snapshots, and of others that they are there.
func (s *snapshots) trim(object any) (any, error) {
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetName(content.GetName())
	out.SetUID(content.GetUID())
	out.SetResourceVersion(content.GetResourceVersion())
	if driver, _, _ := unstructured.NestedString(content.Object, "spec", "driver"); driver != s.driver {
		return out, nil
	}
	return out, unstructured.SetNestedField(out.Object, handleOf(content), "status", "snapshotHandle")
}

// handleOf a snapshot; empty until it was made.
func handleOf(object any) string {
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	for _, path := range [][]string{{"status", "snapshotHandle"}, {"spec", "source", "snapshotHandle"}} {
		if handle, _, _ := unstructured.NestedString(content.Object, path...); handle != "" {
			return handle
		}
	}
	return ""
}
