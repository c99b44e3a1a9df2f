package cephtest

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// testProtection uses the pool that testPools made.
func testProtection(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	const key, value = "storage.openshift.io/contract.a-1", "x y"
	must(t, "key without pool", conn.SetPoolMetadata(ctx, "none", "rbd", key, value), ceph.ErrNotFound)
	must(t, "key without application", conn.SetPoolMetadata(ctx, "contract", "rgw", key, value), ceph.ErrNotFound)
	must(t, "flag without pool", conn.SetNoDelete(ctx, "none", true), ceph.ErrNotFound)
	for range 2 {
		must(t, "key", conn.SetPoolMetadata(ctx, "contract", "rbd", key, value), nil)
		must(t, "flag", conn.SetNoDelete(ctx, "contract", true), nil)
		if p, _ := pool(t, conn, "contract"); !p.NoDelete || p.Metadata["rbd"][key] != value || len(p.Metadata) != 1 {
			t.Errorf("the pool is %+v", p)
		}
	}
	for range 2 {
		must(t, "no flag", conn.SetNoDelete(ctx, "contract", false), nil)
		must(t, "no key", conn.RemovePoolMetadata(ctx, "contract", "rbd", key), nil)
		if p, _ := pool(t, conn, "contract"); p.NoDelete || len(p.Metadata) != 0 {
			t.Errorf("the pool is %+v", p)
		}
	}
	source := s.Source
	source.Credentials = s.Reader
	reader := dial(t, s, source)
	must(t, "reader's key", reader.SetPoolMetadata(ctx, "contract", "rbd", key, value), ceph.ErrDenied)
	must(t, "reader's removal", reader.RemovePoolMetadata(ctx, "contract", "rbd", key), ceph.ErrDenied)
	must(t, "reader's flag", reader.SetNoDelete(ctx, "contract", true), ceph.ErrDenied)
}

// testNamespaces uses the pool that testPools made.
func testNamespaces(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	names, err := conn.ImageNamespaces(ctx, "contract")
	must(t, "none yet", err, nil)
	if !slices.Equal(names, []string{""}) {
		t.Errorf("a new pool has namespaces %q, and must have its own, without a name", names)
	}
	for _, name := range []string{"b", "a", "b"} {
		must(t, "create", conn.CreateNamespace(ctx, "contract", name), nil)
	}
	names, err = conn.ImageNamespaces(ctx, "contract")
	must(t, "namespaces", err, nil)
	if !slices.Equal(names, []string{"", "a", "b"}) {
		t.Errorf("namespaces are %q", names)
	}
	_, err = conn.ImageNamespaces(ctx, "none")
	must(t, "namespaces without pool", err, ceph.ErrNotFound)
	must(t, "namespace without pool", conn.CreateNamespace(ctx, "none", "a"), ceph.ErrNotFound)
	if conn.CreateNamespace(ctx, "contract", "a/b") == nil {
		t.Error("a name that no handle could carry is accepted")
	}
	source := s.Source
	source.Credentials = s.Reader
	reader := dial(t, s, source)
	_, err = reader.ImageNamespaces(ctx, "contract")
	must(t, "reader's list", err, ceph.ErrDenied)
	must(t, "reader's namespace", reader.CreateNamespace(ctx, "contract", "c"), ceph.ErrDenied)
}

func testFilesystemPools(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	filesystems, err := conn.FileSystems(ctx)
	must(t, "filesystems", err, nil)
	pools, err := conn.Pools(ctx)
	must(t, "pools", err, nil)
	holds := func(id int64, role, filesystem string) bool {
		return slices.ContainsFunc(pools, func(p ceph.Pool) bool { return p.ID == id && p.Metadata["cephfs"][role] == filesystem })
	}
	defaults := 0
	for _, f := range filesystems {
		if f.Default {
			defaults++
		}
		if !holds(f.MetadataPool, "metadata", f.Name) || len(f.DataPools) != 1 || !holds(f.DataPools[0], "data", f.Name) {
			t.Errorf("filesystem is %+v, pools are %+v", f, pools)
		}
	}
	if defaults != 1 {
		t.Errorf("%d filesystems are the default", defaults)
	}
	must(t, "group", conn.EnsureSubvolumeGroup(ctx, s.Active, "contract"), nil)
	groups, err := conn.SubvolumeGroups(ctx, s.Active)
	must(t, "groups", err, nil)
	if !slices.Contains(groups, "contract") {
		t.Errorf("groups are %q", groups)
	}
	_, err = conn.SubvolumeGroups(ctx, s.Idle)
	must(t, "groups without MDS", err, ceph.ErrNoActiveMDS)
	_, err = conn.SubvolumeGroups(ctx, "none")
	must(t, "groups without filesystem", err, ceph.ErrNotFound)
}
