package classes

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func class(provisioner, mark string, parameters map[string]string) *storagev1.StorageClass {
	out := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.StorageClass}, Provisioner: provisioner, Parameters: parameters,
	}
	if mark != "" {
		out.Labels = map[string]string{driver.ManagedByLabel: mark}
	}
	return out
}

func ours(parameters map[string]string) *storagev1.StorageClass {
	return class(driver.RBD.Name, driver.RBD.OperatorName(), parameters)
}

// manifest is an asset as the operator reads it.
func manifest(t *testing.T, d driver.Driver, name string) []byte {
	t.Helper()
	images := map[string]string{}
	for _, image := range assets.RequiredImages() {
		images[image] = "image"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	if err != nil {
		t.Fatal(err)
	}
	content, err := set.Asset(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// newStorageClass has the class that exists, if any, and the placement, if it is known.
func newStorageClass(t *testing.T, d driver.Driver, existing *storagev1.StorageClass, place *ceph.Placement) *StorageClass {
	t.Helper()
	var objects []runtime.Object
	if existing != nil {
		objects = append(objects, existing)
	}
	client := fake.NewClientset(objects...)
	kube := informers.NewSharedInformerFactory(client, 0)
	s := &StorageClass{Env: ctrl.Env{Remembering: &sync.Mutex{}, Driver: d, StorageClasses: kube.Storage().V1().StorageClasses(), PersistentVolumes: kube.Core().V1().PersistentVolumes(), Kube: client, Operator: conditiontest.New(operatorv1.Managed)}, Placement: &ctrl.Latest[ceph.Placement]{},
		Manifest: manifest(t, d, assets.StorageClass), Record: &memory{},
		InUse: func(string) bool { return false }}
	// As the manifest of the ClusterCSIDriver has it.
	s.State = func() (operatorv1.StorageClassStateName, error) { return "", nil }
	s.Settings = func() (driver.Settings, error) { return driver.Settings{}, nil }
	if place != nil {
		s.Placement.Set(*place)
	}
	s.StorageClasses.Informer()
	s.PersistentVolumes.Informer()
	ctx, cancel := context.WithCancel(t.Context())
	kube.Start(ctx.Done())
	kube.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		kube.Shutdown()
	})
	return s
}

func TestHook(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	old := map[string]string{"clusterID": "old", "pool": "old", "csi.storage.k8s.io/node-stage-secret-name": "old"}
	complete := map[string]string{
		"clusterID": "f", "pool": "p",
		"imageFeatures": "layering,exclusive-lock,object-map,fast-diff,deep-flatten", "csi.storage.k8s.io/fstype": "ext4",
		"csi.storage.k8s.io/provisioner-secret-name":             "ceph-rbd-csi-provisioner",
		"csi.storage.k8s.io/provisioner-secret-namespace":        "openshift-cluster-csi-drivers",
		"csi.storage.k8s.io/controller-expand-secret-name":       "ceph-rbd-csi-provisioner",
		"csi.storage.k8s.io/controller-expand-secret-namespace":  "openshift-cluster-csi-drivers",
		"csi.storage.k8s.io/controller-publish-secret-name":      "ceph-rbd-csi-provisioner",
		"csi.storage.k8s.io/controller-publish-secret-namespace": "openshift-cluster-csi-drivers",
		"csi.storage.k8s.io/node-stage-secret-name":              "ceph-rbd-csi-node",
		"csi.storage.k8s.io/node-stage-secret-namespace":         "openshift-cluster-csi-drivers",
		"csi.storage.k8s.io/node-publish-secret-name":            "ceph-rbd-csi-node",
		"csi.storage.k8s.io/node-publish-secret-namespace":       "openshift-cluster-csi-drivers",
	}
	tests := map[string]struct {
		reason   string
		existing *storagev1.StorageClass
		place    *ceph.Placement
		want     map[string]string
		err      error
		ready    bool
	}{
		"First": {
			reason: "made from asset and placement",
			place:  place,
			want:   complete,
			ready:  true,
		},
		"Moved": {
			reason:   "the placement has looked at the class already",
			existing: ours(old),
			place:    place,
			want:     complete,
			ready:    true,
		},
		"CephDown": {
			reason:   "exactly as it is: any difference would recreate the class",
			existing: ours(old),
			want:     old,
			ready:    true,
		},
		"Undecided": {
			reason: "no guess",
			err:    ErrUndecided,
		},
		"OtherProvisioner": {
			reason:   "library-go would delete it",
			existing: class("ebs.csi.aws.com", driver.RBD.OperatorName(), old),
			place:    place,
			err:      ErrForeign,
		},
		"NoMark": {
			reason:   "our provisioner in somebody's own class",
			existing: class(driver.RBD.Name, "", old),
			place:    place,
			err:      ErrForeign,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorageClass(t, driver.RBD, tc.existing, tc.place)
			got := resourceread.ReadStorageClassV1OrDie(manifest(t, driver.RBD, assets.StorageClass))
			err := s.Hook()(&operatorv1.OperatorSpec{}, got)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: got error %v, want %v", tc.reason, err, tc.err)
			}
			if ready, _, err := s.ready(); err != nil || ready != tc.ready {
				t.Errorf("%s: ready is %v, want %v, error %v", tc.reason, ready, tc.ready, err)
			}
			if tc.err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, got.Parameters); diff != "" {
				t.Errorf("%s: parameters (-want +got):\n%s", tc.reason, diff)
			}
			if !driver.RBD.Owns(got) {
				t.Errorf("%s: the class has no mark of ours", tc.reason)
			}
		})
	}
}

// TestMatters: each sync asks the API server, and what nobody reads is no reason for one.
func TestMatters(t *testing.T) {
	own := ours(nil)
	other, preferred := own.DeepCopy(), own.DeepCopy()
	other.Name, preferred.Name = "other", "preferred"
	preferred.Annotations = map[string]string{defaultAnnotation: "true"}
	tests := map[string]struct {
		reason string
		event  any
		want   bool
	}{
		"Own":         {"somebody has changed it", own, true},
		"OwnUnseen":   {"somebody has deleted it while the watch was down", cache.DeletedFinalStateUnknown{Key: own.Name, Obj: own}, true},
		"Default":     {"there are not to be two", preferred, true},
		"Other":       {"those come and go by the hundred", other, false},
		"OtherUnseen": {"so they do while the watch is down", cache.DeletedFinalStateUnknown{Key: other.Name, Obj: other}, false},
	}
	s := newStorageClass(t, driver.RBD, nil, nil)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.Matters(tc.event); got != tc.want {
				t.Errorf("%s: matters is %t", tc.reason, got)
			}
		})
	}
}

func TestUsable(t *testing.T) {
	helm := class(driver.RBD.Name, "", nil)
	helm.Annotations = map[string]string{"meta.helm.sh/release-name": "csi", "meta.helm.sh/release-namespace": "ceph"}
	tests := map[string]struct {
		reason   string
		existing *storagev1.StorageClass
		closed   bool
		early    bool
		problems []string
		clusters []ceph.Cluster
		status   operatorv1.ConditionStatus
		text     []string
	}{
		"None":   {reason: "to be made", status: operatorv1.ConditionTrue},
		"Early":  {reason: "what was wrong before the start may still be", early: true},
		"Ours":   {reason: "as expected", existing: ours(nil), status: operatorv1.ConditionTrue},
		"Closed": {reason: "a driver that is not deployed says nothing of classes", existing: helm, closed: true},
		"Problems": {
			reason: "what keeps users' classes from working", existing: ours(nil), problems: []string{"a is wrong", "b is wrong"},
			status: operatorv1.ConditionFalse, text: []string{"a is wrong; b is wrong"},
		},
		"ClosedProblems": {
			reason: "a driver that somebody else deployed has classes as well", closed: true, problems: []string{"a is wrong"},
			status: operatorv1.ConditionFalse, text: []string{"a is wrong"},
		},
		"V2Only": {
			reason: "what no node can mount", existing: ours(map[string]string{"clusterID": "f"}),
			clusters: []ceph.Cluster{{FSID: "f", MonMap: ceph.MonMap{Mons: []ceph.Mon{{Name: "a", Addrs: []ceph.Address{{Protocol: ceph.V2}}}}}}},
			status:   operatorv1.ConditionFalse, text: []string{"StorageClass ceph-rbd: no node mounts"},
		},
		"Foreign": {
			reason:   "whose it is and what to do",
			existing: helm,
			status:   operatorv1.ConditionFalse,
			text:     []string{"StorageClass ceph-rbd", "Helm release ceph/csi", "oc delete storageclass ceph-rbd"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			operator := conditiontest.New(operatorv1.Managed)
			recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
			now := clocktesting.NewFakeClock(time.Now())
			config := UsableConfig{
				StorageClass: newStorageClass(t, driver.RBD, tc.existing, nil),
				Open:         func() bool { return !tc.closed },
				Problems:     &ctrl.Latest[[]string]{},
				Cluster:      &ctrl.Latest[ceph.Cluster]{}, Clusters: &ctrl.Latest[[]ceph.Cluster]{},
			}
			config.Operator, config.Clock, config.Recorder = operator, now, recorder
			if tc.problems != nil {
				config.Problems.Set(tc.problems)
			}
			if tc.clusters != nil {
				config.Clusters.Set(tc.clusters)
			}
			controller := NewUsable(config)
			if !tc.early {
				now.SetTime(now.Now().Add(settling))
			}
			for range 2 {
				if err := controller.Sync(t.Context(), factory.NewSyncContext("test", recorder)); err != nil {
					t.Fatal(err)
				}
			}
			got := operator.Condition(condition.ClassesUsable)
			if tc.status == "" {
				if got != nil {
					t.Errorf("%s: got %+v, want none", tc.reason, got)
				}
				return
			}
			if got == nil || got.Status != tc.status || operator.Writes() != 1 {
				t.Fatalf("%s: got %+v after %d writes, want %s after one", tc.reason, got, operator.Writes(), tc.status)
			}
			for _, part := range tc.text {
				if !strings.Contains(got.Message, part) {
					t.Errorf("%s: message %q does not contain %q", tc.reason, got.Message, part)
				}
			}
		})
	}
}
