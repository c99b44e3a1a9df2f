package classes

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestExistingSnapshotClasses(t *testing.T) {
	snapshot, group := resources()
	own := driver.RBD.OperatorName()
	tests := map[string]struct {
		reason     string
		snapshot   *unstructured.Unstructured
		group      *unstructured.Unstructured
		writes     []string
		usable     operatorv1.ConditionStatus
		mentioning []string
	}{
		"Outdated": {
			reason:   "one kind is mutable, the other is made anew",
			snapshot: existing(t, assets.VolumeSnapshotClass, "snapshot.storage.k8s.io/v1", driver.RBD.Name, own),
			group:    existing(t, assets.VolumeGroupSnapshotClass, "groupsnapshot.storage.k8s.io/v1beta2", driver.RBD.Name, own),
			writes: []string{
				"update volumesnapshotclasses",
				"update volumegroupsnapshotclasses", "delete volumegroupsnapshotclasses", "create volumegroupsnapshotclasses",
			},
			usable: operatorv1.ConditionTrue,
		},
		"Foreign": {
			reason:     "another driver, or no mark of ours",
			snapshot:   existing(t, assets.VolumeSnapshotClass, "snapshot.storage.k8s.io/v1", "ebs.csi.aws.com", own),
			group:      existing(t, assets.VolumeGroupSnapshotClass, "groupsnapshot.storage.k8s.io/v1beta2", driver.RBD.Name, ""),
			usable:     operatorv1.ConditionFalse,
			mentioning: []string{"ebs.csi.aws.com", "oc delete volumesnapshotclass csi-ceph-rbd-vsc", "VolumeGroupSnapshotClass csi-ceph-rbd-vsc"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newSnapshotsRig(t, tc.snapshot, tc.group)
			r.sync(t)
			if diff := cmp.Diff(tc.writes, r.writes()); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
			}
			degraded, usable := r.operator.Condition(condition.SnapshotClassesDegraded), r.operator.Condition(condition.SnapshotClassesUsable)
			if degraded == nil || degraded.Status != operatorv1.ConditionFalse || usable == nil || usable.Status != tc.usable {
				t.Fatalf("%s: got %+v, %+v", tc.reason, degraded, usable)
			}
			for _, part := range tc.mentioning {
				if !strings.Contains(usable.Message, part) {
					t.Errorf("%s: message %q does not contain %q", tc.reason, usable.Message, part)
				}
			}
			metadata := map[string]any{
				"name": driver.RBD.SnapshotClass, "labels": map[string]any{"user": "label", driver.ManagedByLabel: own},
				"annotations": map[string]any{"snapshot.storage.kubernetes.io/is-default-class": "false"},
			}
			if tc.writes == nil {
				return
			}
			if diff := cmp.Diff(metadata, r.class(t, snapshot)["metadata"]); diff != "" {
				t.Errorf("%s: the user's metadata (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(metadata, r.class(t, group)["metadata"]); diff != "" {
				t.Errorf("%s: the user's metadata (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSecondDefaultIsAvoided(t *testing.T) {
	const key = "snapshot.storage.kubernetes.io/is-default-class"
	tests := map[string]struct {
		reason string
		driver string
		value  string
		want   bool
	}{
		"OtherDefault": {reason: "the user has chosen", driver: driver.RBD.Name, value: "true"},
		"OtherDriver":  {reason: "defaults are per driver", driver: "ebs.csi.aws.com", value: "true", want: true},
		"NotDefault":   {reason: "just another class", driver: driver.RBD.Name, value: "false", want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			other := existing(t, assets.VolumeSnapshotClass, "snapshot.storage.k8s.io/v1", tc.driver, "")
			other.SetName("other")
			other.SetAnnotations(map[string]string{key: tc.value})
			r := newSnapshotsRig(t, other)
			r.served[groupCRD] = nil
			r.sync(t)
			snapshot, _ := resources()
			made := &unstructured.Unstructured{Object: r.class(t, snapshot)}
			if _, got := made.GetAnnotations()[key]; got != tc.want {
				t.Errorf("%s: default annotation is %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDeletedSnapshotClassComesBack(t *testing.T) {
	r := newSnapshotsRig(t)
	snapshot, _ := resources()
	there := func() bool { return r.class(t, snapshot) != nil }
	r.settle(t, "made", there)
	if err := r.client.Resource(snapshot).Delete(t.Context(), driver.RBD.SnapshotClass, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.settle(t, "the watch sees the deletion", there)
}

func TestChangesWakeTheController(t *testing.T) {
	r := newSnapshotsRig(t)
	r.served[groupCRD] = nil
	r.sync(t)
	queue := r.syncCtx.Queue()
	for _, change := range []string{"the creation", "the deletion"} {
		key, _ := queue.Get()
		queue.Done(key)
		if key != factory.DefaultQueueKey {
			t.Fatalf("%s: got key %v", change, key)
		}
		snapshot, _ := resources()
		if err := r.client.Resource(snapshot).Delete(t.Context(), driver.RBD.SnapshotClass, metav1.DeleteOptions{}); err != nil && change == "the creation" {
			t.Fatal(err)
		}
	}
}

func TestWatchOutlivesItsContext(t *testing.T) {
	r := newSnapshotsRig(t)
	first, cancel := context.WithCancel(t.Context())
	if err := r.controller.Sync(first, r.syncCtx); err != nil {
		t.Fatal(err)
	}
	cancel()
	snapshot, _ := resources()
	if err := r.client.Resource(snapshot).Delete(t.Context(), driver.RBD.SnapshotClass, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.settle(t, "a new watch sees the deletion", func() bool { return r.class(t, snapshot) != nil })
}

func TestCRDThatComesAndGoes(t *testing.T) {
	r := newSnapshotsRig(t)
	snapshot, _ := resources()
	served := r.served
	r.served = nil
	r.sync(t)
	r.served = served
	r.settle(t, "the CRD was installed later", func() bool { return r.class(t, snapshot) != nil })
	r.served = nil
	r.sync(t)
	if condition := r.operator.Condition(condition.SnapshotClassesDegraded); condition.Status != operatorv1.ConditionFalse {
		t.Errorf("a CRD that was removed is no fault: %+v", condition)
	}
}
