package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testGroups takes a snapshot of two images at once, in the pool of testGolden; of subvolumes, Ceph can since
// 19.2 only.
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
		restored := rbd.createFrom(t, l, "restored"+strconv.Itoa(i), &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
			Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: s.GetSnapshotId()},
		}})
		rbd.remove(t, l, restored)
	}
	for range 2 {
		_, err := l.drivers["rbd-controller"].DeleteVolumeGroupSnapshot(t.Context(), &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: group.GetGroupSnapshotId(), Secrets: user})
		check(t, err)
	}
	for _, volume := range members {
		rbd.remove(t, l, volume)
	}
	if left := l.left(t, nil); len(left) > 0 {
		t.Errorf("left after all was deleted: %q", left)
	}
	testUnquiet(t, l)
}

// group comes twice.
func (f life) group(t *testing.T, l *lab, members []*csi.Volume) *csi.VolumeGroupSnapshot {
	t.Helper()
	request := &csi.CreateVolumeGroupSnapshotRequest{Name: "groupsnapshot-shop", Parameters: f.parameters, Secrets: f.controller}
	for _, volume := range members {
		request.SourceVolumeIds = append(request.SourceVolumeIds, volume.GetVolumeId())
	}
	first, err := l.drivers[f.driver+"-controller"].CreateVolumeGroupSnapshot(t.Context(), request)
	check(t, err)
	again, err := l.drivers[f.driver+"-controller"].CreateVolumeGroupSnapshot(t.Context(), request)
	check(t, err)
	if got, want := again.GetGroupSnapshot().GetGroupSnapshotId(), first.GetGroupSnapshot().GetGroupSnapshotId(); got != want {
		t.Errorf("the same request made %s and %s", want, got)
	}
	return again.GetGroupSnapshot()
}

func testUnquiet(t *testing.T, l *lab) {
	t.Helper()
	cephfs := life{
		driver: "cephfs", parameters: map[string]string{"clusterID": l.FSID(), "fsName": cephdaemons.Filesystem},
		controller: l.user(t, "fs-p", caps["cephfs-provisioner"]...), capability: filesystem("", manyNodes),
	}
	volume := cephfs.create(t, l, "unquiet")
	defer cephfs.remove(t, l, volume)
	_, err := l.drivers["cephfs-controller"].CreateVolumeGroupSnapshot(t.Context(), &csi.CreateVolumeGroupSnapshotRequest{
		Name: "groupsnapshot-unquiet", SourceVolumeIds: []string{volume.GetVolumeId()}, Parameters: cephfs.parameters, Secrets: cephfs.controller,
	})
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "No handler found for 'fs quiesce'") {
		t.Errorf("a snapshot of a group of subvolumes: %v", err)
	}
}
