package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const groupRequest = "groupsnapshot-shop"

// testGroups takes a snapshot of two images at once, in the pool of testGolden.
func testGroups(t *testing.T, l *lab) {
	user := l.user(t, "golden", "mon", "profile rbd", "mgr", "profile rbd pool=golden", "osd", "profile rbd pool=golden")
	rbd := life{
		driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "golden", "imageFeatures": "layering"},
		controller: user, capability: filesystem("xfs", oneNode),
	}
	members := []*csi.Volume{rbd.create(t, l, "one"), rbd.create(t, l, "two")}
	group := rbd.group(t, l, members)
	if len(group.GetSnapshots()) != len(members) || !group.GetReadyToUse() {
		t.Fatalf("a snapshot of %d volumes: %+v", len(members), group)
	}
	ofGroup := func(line string) bool { return strings.HasSuffix(line, " csi.groupid = "+group.GetGroupSnapshotId()) }
	left := l.left(t, nil)
	if named := slices.DeleteFunc(slices.Clone(left), func(line string) bool { return !ofGroup(line) }); len(named) != len(members) {
		t.Errorf("%d snapshots name their group: %q", len(named), left)
	}
	if slices.ContainsFunc(left, func(line string) bool { return strings.Contains(line, "-vg") }) {
		t.Errorf("the group that the snapshot was taken of is left: %q", left)
	}
	for i, s := range group.GetSnapshots() {
		if !slices.ContainsFunc(members, func(v *csi.Volume) bool { return v.GetVolumeId() == s.GetSourceVolumeId() }) {
			t.Errorf("%s is of %s", s.GetSnapshotId(), s.GetSourceVolumeId())
		}
		rbd.restore(t, l, s, "restored"+strconv.Itoa(i))
	}
	rbd.removeGroup(t, l, group)
	for _, volume := range members {
		rbd.remove(t, l, volume)
	}
	if left := l.left(t, nil); len(left) > 0 {
		t.Errorf("left after all was deleted: %q", left)
	}
}

// group comes twice.
func (f life) group(t *testing.T, l *lab, members []*csi.Volume) *csi.VolumeGroupSnapshot {
	t.Helper()
	first, err := f.askGroup(t, l, members)
	check(t, err)
	again, err := f.askGroup(t, l, members)
	check(t, err)
	if got, want := again.GetGroupSnapshotId(), first.GetGroupSnapshotId(); got != want {
		t.Errorf("the same request made %s and %s", want, got)
	}
	return again
}

// askGroup comes again while clients have not come to rest.
func (f life) askGroup(t *testing.T, l *lab, members []*csi.Volume) (*csi.VolumeGroupSnapshot, error) {
	t.Helper()
	request := &csi.CreateVolumeGroupSnapshotRequest{Name: groupRequest, Parameters: f.parameters, Secrets: f.controller}
	for _, volume := range members {
		request.SourceVolumeIds = append(request.SourceVolumeIds, volume.GetVolumeId())
	}
	deadline := time.Now().Add(time.Minute)
	for {
		answer, err := l.drivers[f.driver+"-controller"].CreateVolumeGroupSnapshot(t.Context(), request)
		if status.Code(err) == codes.Internal && strings.Contains(err.Error(), "uiesce operation is in progress") && time.Now().Before(deadline) {
			<-time.After(100 * time.Millisecond)
			continue
		}
		return answer.GetGroupSnapshot(), err
	}
}

// restore makes a volume of a snapshot, and removes it.
func (f life) restore(t *testing.T, l *lab, of *csi.Snapshot, name string) {
	t.Helper()
	f.remove(t, l, f.createFrom(t, l, name, &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: of.GetSnapshotId()},
	}}))
}

func (f life) removeGroup(t *testing.T, l *lab, group *csi.VolumeGroupSnapshot) {
	t.Helper()
	for range 2 {
		_, err := l.drivers[f.driver+"-controller"].DeleteVolumeGroupSnapshot(t.Context(), &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: group.GetGroupSnapshotId(), Secrets: f.controller})
		check(t, err)
	}
}
