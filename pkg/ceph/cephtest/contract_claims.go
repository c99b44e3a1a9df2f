package cephtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// testClaims uses the pool that testPools made. A session keeps the caps that it began with, but a
// tag in them follows the pool's application metadata.
func testClaims(t *testing.T, s Subject) {
	ctx, admin := t.Context(), dial(t, s, s.Source)
	const key = "storage.openshift.io.contract.infra-1.rbd"
	byClaim := ceph.Caps{Mon: "profile rbd", OSD: ceph.Grants("allow rwx tag rbd "+key+"=in-use", "profile rbd pool=a")}
	user, err := admin.CreateUser(ctx, minted, byClaim, "")
	must(t, "create", err, nil)
	running := as(t, s, user.Credentials)
	// An OSD may learn a moment later what the mons answered.
	reaches := func(what string, conn Connection, want bool) {
		t.Helper()
		patient, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for {
			rights, err := conn.ObjectRights(patient, "contract", "")
			must(t, what, err, nil)
			if rights == (ceph.ObjectRights{Read: want, Write: want}) {
				return
			}
		}
	}
	claim := func(value string) {
		t.Helper()
		must(t, "claim", admin.SetPoolMetadata(ctx, "contract", "rbd", key, value), nil)
	}
	reaches("before the claim", running, false)
	claim("in-use")
	reaches("as soon as there is a claim", running, true)
	claim("leaving")
	reaches("with another value", running, false)
	claim("in-use")
	must(t, "no claim", admin.RemovePoolMetadata(ctx, "contract", "rbd", key), nil)
	reaches("without the claim", running, false)

	must(t, "grown caps", admin.SetCaps(ctx, minted, byClaim.With(ceph.Caps{OSD: "profile rbd pool=contract"})), nil)
	reaches("caps that grew after the session began", running, false)
	reaches("a new session", as(t, s, user.Credentials), true)
	s.RemoveUser(t, minted)
}

// testFilesystemTags checks the grants of users of a filesystem.
func testFilesystemTags(t *testing.T, s Subject) {
	ctx, admin := t.Context(), dial(t, s, s.Source)
	pools := filesystemPoolsOf(ctx, t, admin, s.Active)
	user, err := admin.CreateUser(ctx, minted, ceph.Caps{
		Mon: "allow r",
		Mgr: ceph.Grants(`allow command "fs subvolume info" with vol_name=`+s.Active+" group_name=csi",
			`allow command "fs subvolume snapshot info" with vol_name=`+s.Active+" group_name=csi"),
		OSD: ceph.Grants("allow r namespace=csi tag cephfs metadata="+s.Active, "allow rw namespace=n tag cephfs metadata="+s.Active,
			"allow rw tag cephfs data="+s.Active),
	}, "")
	must(t, "create", err, nil)
	conn := as(t, s, user.Credentials)
	for place, want := range map[[2]string]ceph.ObjectRights{
		{pools.Metadata, ""}:        {},
		{pools.Metadata, "csi"}:     {Read: true},
		{pools.Metadata, "n"}:       {Read: true, Write: true},
		{pools.Data[0], ""}:         {Read: true, Write: true},
		{"contract", "csi"}:         {},
		{s.Idle + "-metadata", "n"}: {},
	} {
		rights, err := conn.ObjectRights(ctx, place[0], place[1])
		must(t, "rights", err, nil)
		if rights != want {
			t.Errorf("in namespace %q of pool %s: got %+v, want %+v", place[1], place[0], rights, want)
		}
	}
	s.RemoveUser(t, minted)
}

func filesystemPoolsOf(ctx context.Context, t *testing.T, conn Connection, filesystem string) ceph.FilesystemPools {
	t.Helper()
	list, err := conn.FilesystemPools(ctx)
	must(t, "pools of filesystems", err, nil)
	i := slices.IndexFunc(list, func(p ceph.FilesystemPools) bool { return p.Filesystem == filesystem })
	if i < 0 || list[i].Metadata == "" || len(list[i].Data) == 0 {
		t.Fatalf("no pools of %s in %+v", filesystem, list)
	}
	return list[i]
}
