package driver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// fakeCeph behaves like a small Ceph and writes down what was written.
type fakeCeph struct {
	pools       []ceph.Pool
	filesystems []ceph.FileSystem
	// listing, create, enable and group are what the commands fail with.
	listing, create, enable, group error
	writes                         []string
}

func (f *fakeCeph) Pools(context.Context) ([]ceph.Pool, error) { return f.pools, f.listing }

func (f *fakeCeph) CreatePool(_ context.Context, name string) error {
	if f.create != nil {
		return f.create
	}
	f.writes = append(f.writes, "create "+name)
	f.pools = append(f.pools, ceph.Pool{Name: name})
	return nil
}

func (f *fakeCeph) EnableApplication(_ context.Context, pool, application string) error {
	if f.enable != nil {
		return f.enable
	}
	f.writes = append(f.writes, "enable "+application+" on "+pool)
	i := slices.IndexFunc(f.pools, func(p ceph.Pool) bool { return p.Name == pool })
	f.pools[i].Applications = append(f.pools[i].Applications, application)
	return nil
}

func (f *fakeCeph) FileSystems(context.Context) ([]ceph.FileSystem, error) {
	return f.filesystems, f.listing
}

func (f *fakeCeph) EnsureSubvolumeGroup(_ context.Context, filesystem, group string) error {
	if f.group != nil {
		return f.group
	}
	f.writes = append(f.writes, "group "+filesystem+"/"+group)
	return nil
}

var errBoom = errors.New("boom")

func check(t *testing.T, reason string, err, want error, text []string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", reason, err, want)
	}
	for _, part := range text {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %q does not contain %q", reason, err, part)
		}
	}
}
