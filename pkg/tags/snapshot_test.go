package tags

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// contents are snapshots that are set by hand.
type contents struct {
	ctrl.Latest[[]*usage.Content]
	loading bool
	err     error
}

func (c *contents) Taken() ([]*usage.Content, bool, error) {
	all, _ := c.Get()
	return all, !c.loading, c.err
}

// taken is the VolumeSnapshotContent of snapshot i.
func taken(i int) *usage.Content {
	name := fmt.Sprintf("snapcontent-%d", i)
	return &usage.Content{
		Name: name, UID: types.UID("uid-" + name), Handle: fmt.Sprintf("0001-0024-%s-%016x-%s", cephtest.FSID, 1, uuid(i)),
		Namespace: "shop", VolumeSnapshot: "before",
	}
}

// ownSnapshot are the tags of snapshot i.
func ownSnapshot(i int, more ...string) map[string]string {
	out := map[string]string{
		ceph.TagCluster: infraID, ceph.TagSnapshotContent: fmt.Sprintf("snapcontent-%d", i), ceph.TagSnapshot: "before", ceph.TagSnapshotNamespace: "shop",
	}
	for n := 0; n+1 < len(more); n += 2 {
		out[more[n]] = more[n+1]
	}
	return out
}

func snapshotImage(i int) ceph.ImagePlace {
	return ceph.ImagePlace{Pool: "rbd", Name: "csi-snap-" + uuid(i)}
}

func subvolumeSnapshot(i int) ceph.SubvolumePlace {
	at := subvolumeOf(0)
	at.Snapshot = "csi-snap-" + uuid(i)
	return at
}

func addSnapshotImage(r *rig, i int, metadata ...string) {
	r.ceph.AddJournal("rbd", "", "csi.snap."+uuid(i), "csi.imagename", snapshotImage(i).Name)
	r.ceph.AddImage(snapshotImage(i), metadata...)
}

func addSubvolumeSnapshot(r *rig, i int, metadata ...string) {
	at := subvolumeSnapshot(i)
	r.ceph.AddJournal("myfs-metadata", "csi", "csi.snap."+uuid(i), "csi.imagename", at.Snapshot, "csi.source", at.Name)
	r.ceph.AddSubvolume(subvolumeOf(0))
	r.ceph.AddSubvolume(at, metadata...)
}

// snapshotsOf are the fixtures for snapshots of a driver's fixture.
var snapshotsOf = map[string]fixture{
	"rbd": {
		add: addSnapshotImage,
		get: func(r *rig, i int) map[string]string { return r.ceph.Image(snapshotImage(i)) },
	},
	"cephfs": {
		add: addSubvolumeSnapshot,
		get: func(r *rig, i int) map[string]string { return r.ceph.Subvolume(subvolumeSnapshot(i)) },
	},
}

// eachSnapshots runs a test for both drivers.
func eachSnapshots(t *testing.T, test func(t *testing.T, f fixture, r *rig)) {
	each(t, func(t *testing.T, f fixture, r *rig) { test(t, snapshotsOf[f.driver.Kind], r) })
}

func TestUntaggedSnapshotsAreTagged(t *testing.T) {
	eachSnapshots(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1, "other", "key")
		f.add(r, 2, flat(ownSnapshot(2))...)
		f.add(r, 3, ceph.TagCluster, infraID, ceph.TagPV, "pvc-0", ceph.TagPVC, "data", ceph.TagRetain, "true", ceph.TagRetainOf, uuid(0))
		f.add(r, 4, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(0))
		kept, going := taken(4), taken(5)
		kept.Retain, going.Deleted = true, true
		r.snapshots.Set([]*usage.Content{taken(1), taken(2), taken(3), kept, going})
		r.later(t, 0)
		f.expect(t, r, 1, ownSnapshot(1, "other", "key"))
		f.expect(t, r, 2, ownSnapshot(2))
		f.expect(t, r, 3, ownSnapshot(3))
		f.expect(t, r, 4, ownSnapshot(4, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(4)))
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
		r.expectCounts(t, Counts{Tagged: 4})

		writes, reads := r.writes(), r.client.reads
		r.later(t, 12*time.Hour)
		if r.client.reads != reads {
			t.Errorf("%d reads of what was seen tagged", r.client.reads-reads)
		}
		r.start()
		r.later(t, 0)
		if r.writes() != writes || r.client.reads != reads+4 {
			t.Errorf("a new process writes: %v", r.ceph.Writes())
		}
		kept.Retain = false
		r.controller.changed(nil)
		r.later(t, time.Minute)
		f.expect(t, r, 4, ownSnapshot(4))
	})
}

func TestSnapshotsInTrouble(t *testing.T) {
	eachSnapshots(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1, ceph.TagCluster, "other")
		f.add(r, 3)
		r.snapshots.Set([]*usage.Content{taken(1), taken(2), taken(3)})
		r.add(t, provisioned(r.config.Driver, 9, 1))
		r.later(t, 0)
		f.expect(t, r, 1, map[string]string{ceph.TagCluster: "other"})
		f.expect(t, r, 3, ownSnapshot(3))
		r.expect(t, operatorv1.ConditionFalse, "ForeignTag", "VolumeSnapshotContent snapcontent-1 in", `"other"`,
			"PersistentVolume pvc-9, VolumeSnapshotContent snapcontent-2 in", "csi-snap-"+uuid(1))
		r.expectCounts(t, Counts{Tagged: 1, Conflicting: 1, Missing: 2})
		if len(r.events) != 1 {
			t.Errorf("events: %q", r.events)
		}
	})
}

// TestRetainedSnapshot: Ceph tells nothing of the snapshots of a subvolume that was removed.
func TestRetainedSnapshot(t *testing.T) {
	f, r := snapshotsOf["cephfs"], newRig(t, fixtures["CephFS"].driver)
	f.add(r, 1)
	r.ceph.RemoveSubvolume(subvolumeOf(0))
	r.snapshots.Set([]*usage.Content{taken(1)})
	r.later(t, 0)
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	r.expectCounts(t, Counts{NothingToTag: 1})
}

func TestUnknownSnapshots(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1)
		r.add(t, provisioned(f.driver, 1, 1))
		r.snapshots.loading = true
		r.later(t, 0)
		if r.operator.Condition("VolumesTagged") != nil {
			t.Error("something is said before all is known")
		}
		r.snapshots.err = fmt.Errorf("reading: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "volumesnapshotcontents"}, "", errors.New("no")))
		r.later(t, time.Minute)
		f.expect(t, r, 1, own(1))
		r.expect(t, operatorv1.ConditionFalse, "Forbidden", "volumesnapshotcontents is forbidden")
		r.snapshots.err, r.snapshots.loading = nil, false
		r.later(t, time.Minute)
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	})
}

func TestDecideSnapshot(t *testing.T) {
	tests := map[string]struct {
		reason string
		has    map[string]string
		want   ceph.MetadataChange
	}{
		"Complete":     {reason: "nothing to do", has: ownSnapshot(1)},
		"None":         {reason: "all at once", want: ceph.MetadataChange{Set: ownSnapshot(1)}},
		"OtherContent": {reason: "it was imported as another one", has: map[string]string{ceph.TagCluster: infraID, ceph.TagSnapshotContent: "old"}},
		"OtherName":    {reason: "names do not mix", has: ownSnapshot(1, ceph.TagSnapshot, "old", ceph.TagSnapshotNamespace, "")},
		"Foreign":      {reason: "another cluster's", has: map[string]string{ceph.TagCluster: "other", ceph.TagPV: "pvc-0"}},
		"Inherited": {reason: "the volume's names go", has: ownSnapshot(1, ceph.TagPV, "pvc-0"),
			want: ceph.MetadataChange{Remove: []string{ceph.TagPV}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := snapshot{taken(1)}.decide(infraID, tc.has)
			if len(got.Set) == 0 {
				got.Set = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
