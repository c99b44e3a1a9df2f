package classes

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	snapshotCRD = "volumesnapshotclasses.snapshot.storage.k8s.io"
	groupCRD    = "volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io"
)

type snapshotsRig struct {
	controller factory.Controller
	config     SnapshotsConfig
	operator   *conditiontest.Operator
	client     *dynamicfake.FakeDynamicClient
	served     map[string][]string
	syncCtx    factory.SyncContext
}

func resources() (snapshot, group schema.GroupVersionResource) {
	return schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"},
		schema.GroupVersionResource{Group: "groupsnapshot.storage.k8s.io", Version: "v1beta2", Resource: "volumegroupsnapshotclasses"}
}

// newSnapshotsRig has both CRDs, a known placement and an open gate.
func newSnapshotsRig(t *testing.T, objects ...runtime.Object) *snapshotsRig {
	t.Helper()
	snapshot, group := resources()
	kinds := map[schema.GroupVersionResource]string{snapshot: "VolumeSnapshotClassList", group: "VolumeGroupSnapshotClassList"}
	r := &snapshotsRig{
		operator: conditiontest.New(operatorv1.Managed),
		client:   dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...),
		served:   map[string][]string{snapshotCRD: {"v1beta1", "v1"}, groupCRD: {"v1beta1", "v1beta2"}},
	}
	r.client.PrependReactor("update", group.Resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: groupSnapshotClassKind}, "x", nil)
	})
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	r.syncCtx = factory.NewSyncContext("test", recorder)
	r.config = SnapshotsConfig{Env: ctrl.Env{Remembering: &sync.Mutex{},
		Driver: driver.RBD, Operator: r.operator, Dynamic: r.client, Kube: fake.NewClientset(), Clock: clock.RealClock{}, CRDs: &ctrl.Latest[bool]{}, ConfigMaps: informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().ConfigMaps(), Served: func(crd string) []string { return r.served[crd] }, Recorder: recorder,
	},
		Manifests: [][]byte{
			manifest(t, driver.RBD, assets.VolumeSnapshotClass), manifest(t, driver.RBD, assets.VolumeGroupSnapshotClass),
		},
		Placement: &ctrl.Latest[ceph.Placement]{},
		Cluster:   &ctrl.Latest[ceph.Cluster]{},
		Open:      func() bool { return true },

		GroupSnapshots: func() bool { return true },
		Record:         &memory{},
		GroupRecord:    &memory{},
	}
	r.config.Placement.Set(ceph.Placement{FSID: "f", Pool: "p"})
	var err error
	if r.controller, err = NewSnapshots(r.config); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *snapshotsRig) sync(t *testing.T) {
	t.Helper()
	if err := r.controller.Sync(t.Context(), r.syncCtx); err != nil {
		t.Fatal(err)
	}
}

// settle syncs as the informers' events ask for, until the expectation holds.
func (r *snapshotsRig) settle(t *testing.T, reason string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		err := r.controller.Sync(t.Context(), r.syncCtx)
		if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			return false, err
		}
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", reason, err)
	}
}

// writes lists what was written, as "verb resource".
func (r *snapshotsRig) writes() []string {
	var out []string
	for _, action := range r.client.Actions() {
		switch action.GetVerb() {
		case "create", "update", "delete", "patch":
			out = append(out, action.GetVerb()+" "+action.GetResource().Resource)
		}
	}
	return out
}

func (r *snapshotsRig) class(t *testing.T, resource schema.GroupVersionResource) map[string]any {
	t.Helper()
	got, err := r.client.Resource(resource).Get(t.Context(), driver.RBD.SnapshotClass, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return got.Object
}

func existing(t *testing.T, asset, apiVersion, driverName, mark string) *unstructured.Unstructured {
	t.Helper()
	read, err := readSnapshotClass(manifest(t, driver.RBD, asset))
	if err != nil {
		t.Fatal(err)
	}
	out := read.asset
	out.SetAPIVersion(apiVersion)
	out.Object["driver"] = driverName
	out.Object["parameters"] = map[string]any{"clusterID": "old"}
	out.SetLabels(map[string]string{"user": "label"})
	if mark != "" {
		out.SetLabels(map[string]string{"user": "label", driver.ManagedByLabel: mark})
	}
	out.SetAnnotations(map[string]string{"snapshot.storage.kubernetes.io/is-default-class": "false"})
	return out
}

func TestSnapshotClassesAreMade(t *testing.T) {
	r := newSnapshotsRig(t)
	snapshot, group := resources()
	r.settle(t, "both classes are made", func() bool { return r.class(t, snapshot) != nil && r.class(t, group) != nil })
	mark := map[string]any{driver.ManagedByLabel: driver.RBD.OperatorName()}
	want := map[string]any{
		"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "driver": "rbd.csi.ceph.com", "deletionPolicy": "Delete",
		"metadata": map[string]any{
			"name": "csi-ceph-rbd-vsc", "labels": mark,
			"annotations": map[string]any{"snapshot.storage.kubernetes.io/is-default-class": "true"},
		},
		"parameters": map[string]any{
			"clusterID": "f",
			"csi.storage.k8s.io/snapshotter-secret-name":      "ceph-rbd-csi-provisioner",
			"csi.storage.k8s.io/snapshotter-secret-namespace": "openshift-cluster-csi-drivers",
		},
	}
	if diff := cmp.Diff(want, r.class(t, snapshot)); diff != "" {
		t.Errorf("VolumeSnapshotClass (-want +got):\n%s", diff)
	}
	want = map[string]any{
		"apiVersion": "groupsnapshot.storage.k8s.io/v1beta2", "kind": "VolumeGroupSnapshotClass", "driver": "rbd.csi.ceph.com", "deletionPolicy": "Delete",
		"metadata": map[string]any{
			"name": "csi-ceph-rbd-vsc", "labels": mark,
			"annotations": map[string]any{"groupsnapshot.storage.kubernetes.io/is-default-class": "true"},
		},
		"parameters": map[string]any{
			"clusterID": "f", "pool": "p",
			"csi.storage.k8s.io/group-snapshotter-secret-name":          "ceph-rbd-csi-provisioner",
			"csi.storage.k8s.io/group-snapshotter-secret-namespace":     "openshift-cluster-csi-drivers",
			"csi.storage.k8s.io/group-snapshotter-get-secret-name":      "ceph-rbd-csi-provisioner",
			"csi.storage.k8s.io/group-snapshotter-get-secret-namespace": "openshift-cluster-csi-drivers",
		},
	}
	if diff := cmp.Diff(want, r.class(t, group)); diff != "" {
		t.Errorf("VolumeGroupSnapshotClass in the newest served version (-want +got):\n%s", diff)
	}
	r.settle(t, "the informers have the classes", func() bool { return r.controller.Sync(t.Context(), r.syncCtx) == nil })
	writes, conditions := len(r.writes()), r.operator.Writes()
	r.sync(t)
	if len(r.writes()) != writes || r.operator.Writes() != conditions {
		t.Errorf("a sync without news wrote: %v", r.writes())
	}
}

func TestNoSnapshotClass(t *testing.T) {
	tests := map[string]struct {
		reason string
		before func(*snapshotsRig)
	}{
		"NoCRD":     {reason: "nothing to make, nothing to ask for", before: func(r *snapshotsRig) { r.served = nil }},
		"Undecided": {reason: "no guess", before: func(r *snapshotsRig) { r.config.Placement.Clear() }},
		"Unmanaged": {reason: "no write but conditions", before: func(r *snapshotsRig) { r.operator.SetState(operatorv1.Unmanaged) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newSnapshotsRig(t)
			tc.before(r)
			r.sync(t)
			if writes := r.writes(); len(writes) > 0 {
				t.Errorf("%s: wrote %v", tc.reason, writes)
			}
			if name == "NoCRD" && len(r.client.Actions()) > 0 {
				t.Errorf("%s: asked for %v", tc.reason, r.client.Actions())
			}
		})
	}
}

// TestSnapshotClassesWithdrawn: volumes may hold a driver that a person wants off for months. What is said of its classes until
// then, nobody says otherwise.
func TestSnapshotClassesWithdrawn(t *testing.T) {
	for state, want := range map[operatorv1.ManagementState]bool{operatorv1.Removed: false, operatorv1.Managed: true} {
		r := newSnapshotsRig(t)
		r.config.ClusterCSIDrivers = operatorinformers.NewSharedInformerFactory(nil, 0).Operator().V1().ClusterCSIDrivers()
		cr := &operatorv1.ClusterCSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.Name}}
		cr.Spec.ManagementState = state
		if err := r.config.ClusterCSIDrivers.Informer().GetIndexer().Add(cr); err != nil {
			t.Fatal(err)
		}
		open := true
		r.config.Open = func() bool { return open }
		var err error
		if r.controller, err = NewSnapshots(r.config); err != nil {
			t.Fatal(err)
		}
		r.sync(t)
		open = false
		r.sync(t)
		for _, part := range []string{"CephSnapshotClassesDegraded", "SnapshotClassesUsable"} {
			if c := r.operator.Condition(part); (c != nil) != want {
				t.Errorf("%s: %+v", state, c)
			}
		}
	}
}

func TestOtherManifestsAreRefused(t *testing.T) {
	_, err := NewSnapshots(SnapshotsConfig{Manifests: [][]byte{[]byte("kind: StorageClass\nmetadata: {name: x}\n")}})
	if err == nil || !strings.Contains(err.Error(), `StorageClass "x"`) {
		t.Errorf("got error %v, want one that names the manifest", err)
	}
}
