package cephtest

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// testCapNames: one name that Ceph cannot read has all caps of the user refused.
func testCapNames(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	first, err := conn.CreateUser(ctx, minted, mintedCaps, "")
	must(t, "create", err, nil)
	for _, name := range []string{"a b", "a, b", `a"b`, "a'b", "all", "*", "5%d", "a=b", "a;b", "(x)", "größe", "日本", "a/b", "a-b_c.d", `a\b`, "a b'c", `a\"b`, "$x", "~", "a,b", "-", "."} {
		written, err := ceph.CapName(name)
		if err != nil {
			continue
		}
		caps := ceph.Caps{
			Mon: "allow r",
			Mgr: ceph.Grants("profile rbd pool="+written, `allow command "fs subvolume info" with vol_name=a group_name=`+written),
			OSD: ceph.Grants("profile rbd pool="+written, "allow rw namespace="+written+" tag cephfs metadata=a", "allow rwx tag rbd "+written+"=in-use"),
			MDS: "allow rw fsname=a path=" + written,
		}
		must(t, "caps with "+written, conn.SetCaps(ctx, minted, caps), nil)
		now, err := conn.User(ctx, minted)
		must(t, "get", err, nil)
		mustUser(t, "with "+written, now, caps)
		filesystem, err := ceph.CapFilesystem(name)
		if err != nil {
			continue
		}
		must(t, "filesystem "+filesystem, conn.SetCaps(ctx, minted, ceph.Caps{MDS: "allow rw fsname=" + filesystem + " path=/a"}), nil)
	}
	mustInvalid(t, "a filesystem in quotes", conn.SetCaps(ctx, minted, ceph.Caps{MDS: `allow rw fsname="a b" path=/a`}), first)
	s.RemoveUser(t, minted)
}
