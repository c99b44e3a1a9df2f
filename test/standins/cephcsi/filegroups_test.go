package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	operand "github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// testFileGroups takes a snapshot of two subvolumes at once, with the user that the operator makes.
func testFileGroups(t *testing.T, l *lab) {
	if release, err := l.Version(t.Context()); err != nil || !ceph.Quiesces(release) {
		check(t, err)
		t.Skipf("Ceph %s takes no snapshots of groups of subvolumes: `fs quiesce` came with 19.2", release)
	}
	cephfs := l.cephfs(t)
	members := []*csi.Volume{cephfs.create(t, l, "one"), cephfs.create(t, l, "two")}
	group := cephfs.group(t, l, members)
	if len(group.GetSnapshots()) != len(members) || !group.GetReadyToUse() {
		t.Fatalf("a snapshot of %d volumes: %+v", len(members), group)
	}
	names := map[string]string{group.GetGroupSnapshotId(): "group", members[0].GetVolumeId(): "one", members[1].GetVolumeId(): "two"}
	for _, s := range group.GetSnapshots() {
		names[s.GetSnapshotId()] = "snapshot of " + names[s.GetSourceVolumeId()]
	}
	left := slices.DeleteFunc(l.leftInFiles(t, names), func(line string) bool {
		return !strings.Contains(line, "group") && !strings.Contains(line, "@") || strings.Contains(line, "csi.creationtime")
	})
	want := strings.ReplaceAll(goldenGroup, "HANDLE", "0001-0024-"+l.FSID()+"-0000000000000001")
	if diff := cmp.Diff(lines(want), left); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	l.testStillness(t, members)
	other := cephfs.create(t, l, "other")
	if _, err := cephfs.askGroup(t, l, []*csi.Volume{members[0], other}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("other volumes in a group that is there: %v", err)
	}
	// The mgr takes many seconds for each copy.
	cephfs.restore(t, l, group.GetSnapshots()[0], "restored")
	cephfs.removeGroup(t, l, group)
	for _, volume := range append(members, other) {
		cephfs.remove(t, l, volume)
	}
	if left := l.leftInFiles(t, nil); len(left) > 0 {
		t.Errorf("left after all was deleted: %q", left)
	}
}

// goldenGroup is the journal of a group, and its members' snapshots, which ceph-csi does not tag.
const goldenGroup = `
	csi.groups.default csi.volume.group.groupsnapshot-shop = <group>
	csi.snap.<snapshot of one> csi.snapname = csi-vol-group-<group>-HANDLE-<one>
	csi.snap.<snapshot of two> csi.snapname = csi-vol-group-<group>-HANDLE-<two>
	csi.snaps.default csi.snap.csi-vol-group-<group>-HANDLE-<one> = <snapshot of one>
	csi.snaps.default csi.snap.csi-vol-group-<group>-HANDLE-<two> = <snapshot of two>
	csi.volume.group.<group> HANDLE-<one> = HANDLE-<snapshot of one>
	csi.volume.group.<group> HANDLE-<two> = HANDLE-<snapshot of two>
	csi.volume.group.<group> csi.groupname = csi-vol-group-<group>
	csi.volume.group.<group> csi.volname = groupsnapshot-shop
	csi/csi-vol-<one>@csi-snap-<snapshot of one> has_pending_clones = no
	csi/csi-vol-<two>@csi-snap-<snapshot of two> has_pending_clones = no`

// testStillness: it is over, and no user of another subvolume group can bring it about.
func (l *lab) testStillness(t *testing.T, members []*csi.Volume) {
	t.Helper()
	admin, err := volumes.Open(l.ConfFile(), l.KeyringFile())
	check(t, err)
	defer admin.Close()
	state, err := admin.Quiesce(cephdaemons.Filesystem, groupRequest, map[string]any{"query": true})
	if err != nil || state != "RELEASED" {
		t.Errorf("the group is %s: %v", state, err)
	}
	user := l.user(t, "stranger", given(operand.CephFS, ceph.Placement{Filesystem: cephdaemons.Filesystem, SubvolumeGroup: "theirs"}).Provisioner.Arguments()...)
	stranger, err := volumes.OpenAs(l.ConfFile(), user["userID"], user["userKey"])
	check(t, err)
	defer stranger.Close()
	name := "csi/" + members[0].GetVolumeContext()["subvolumeName"]
	for what, more := range map[string]map[string]any{
		"another group's subvolume": {"members": []string{name}},
		"one beside its own":        {"members": []string{"theirs/a", name}},
		"a way out of its group":    {"members": []string{"theirs/.."}},
		"all that is under way":     {"query": true, "all": true},
	} {
		if _, err := stranger.Quiesce(cephdaemons.Filesystem, "strange", more); err == nil || !strings.Contains(err.Error(), "access denied") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// testUnquiet: an older Ceph cannot, which ceph-csi says, and leaves its reservation.
func testUnquiet(t *testing.T, l *lab) {
	if release, err := l.Version(t.Context()); err != nil || ceph.Quiesces(release) {
		check(t, err)
		t.Skipf("Ceph %s takes snapshots of groups of subvolumes", release)
	}
	cephfs := l.cephfs(t)
	volume := cephfs.create(t, l, "unquiet")
	defer cephfs.remove(t, l, volume)
	_, err := cephfs.askGroup(t, l, []*csi.Volume{volume})
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "No handler found for 'fs quiesce'") {
		t.Errorf("a snapshot of a group of subvolumes: %v", err)
	}
}
