package driver_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func tagged(t *testing.T, d driver.Driver, c *cephtest.Cluster, pools ...int64) ([]driver.Tagged, error) {
	t.Helper()
	client, err := c.Dial(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	has := driver.Inventory{Pools: c.Pools()}
	if has.FileSystems, err = client.FileSystems(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d.Storage.Tagged(t.Context(), client, has, "ours", pools)
}

func TestTaggedImages(t *testing.T) {
	c := cephtest.New()
	for _, p := range []ceph.Pool{{Name: "a"}, {Name: "b"}, {Name: "data", ErasureCoded: true}} {
		c.AddPool(p)
	}
	c.AddImage(ceph.ImagePlace{Pool: "a", Name: "theirs"}, ceph.TagCluster, "theirs")
	c.AddImage(ceph.ImagePlace{Pool: "a", Name: "untagged"})
	ours := ceph.ImagePlace{Pool: "a", Name: "ours"}
	c.AddImage(ours, ceph.TagCluster, "ours")
	c.AddImage(ceph.ImagePlace{Pool: "a", Name: "ours-2"}, ceph.TagCluster, "ours")
	apart := ceph.ImagePlace{Pool: "a", Name: "ours-data"}
	c.AddImage(apart, ceph.TagCluster, "ours")
	c.SetDataPool(apart, "data")
	c.AddImage(ceph.ImagePlace{Pool: "b", Name: "ours"}, ceph.TagCluster, "ours")
	got, err := tagged(t, driver.RBD, c, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []driver.Tagged{
		{Used: driver.Used{Placement: ceph.Placement{Pool: "a"}}, Example: "image a/ours"},
		{Used: driver.Used{Placement: ceph.Placement{Pool: "a", DataPool: "data"}}, Example: "image a/ours-data"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one place for each data pool, and nothing of pools that were not asked for (-want +got):\n%s", diff)
	}
	c.RemovePool("a")
	if got, err := tagged(t, driver.RBD, c, 1, 3); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v of a pool that is gone", got, err)
	}
	c.Stop()
	client, has := driver.Catalog(nil), driver.Inventory{}
	if got, err := driver.RBD.Storage.Tagged(t.Context(), client, has, "ours", []int64{1}); err != nil || got != nil {
		t.Errorf("nothing is asked where there is nothing: %v, %v", got, err)
	}
}

func TestTaggedSubvolumes(t *testing.T) {
	at := func(group, name string) ceph.SubvolumePlace {
		return ceph.SubvolumePlace{Filesystem: "fs", Group: group, Name: name}
	}
	tests := map[string]struct {
		reason string
		add    func(*cephtest.Cluster)
		groups []string
	}{
		"Theirs": {"of another cluster, or of nobody", func(c *cephtest.Cluster) {
			c.AddSubvolume(at("csi", "theirs"), ceph.TagCluster, "theirs")
			c.AddSubvolume(at("csi", "untagged"))
		}, nil},
		"Ours": {"behind many others", func(c *cephtest.Cluster) {
			for _, name := range []string{"a", "b", "c", "d"} {
				c.AddSubvolume(at("csi", name), ceph.TagCluster, "theirs")
			}
			c.AddSubvolume(at("csi", "z"), ceph.TagCluster, "ours")
		}, []string{"csi"}},
		"Groups": {"each for itself, and what is in none", func(c *cephtest.Cluster) {
			c.AddSubvolume(at("old", "x"), ceph.TagCluster, "ours")
			c.AddSubvolume(at("", "y"), ceph.TagCluster, "ours")
		}, []string{"", "old"}},
		"Cloning": {"nobody can tell yet", func(c *cephtest.Cluster) {
			c.AddSubvolume(at("csi", "clone"))
			c.SetCloning(at("csi", "clone"), true)
		}, []string{"csi"}},
		"Retained": {"only a snapshot is left, whose metadata the mgr does not show", func(c *cephtest.Cluster) {
			snapshot := at("csi", "removed")
			snapshot.Snapshot = "snapshot"
			c.AddSubvolume(snapshot, ceph.TagCluster, "theirs")
		}, []string{"csi"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cephtest.New()
			c.AddFileSystem("fs", true)
			c.AddFileSystem("other", false)
			client, err := c.Dial(t.Context(), c.Source())
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range []string{"csi", "old"} {
				if err := client.EnsureSubvolumeGroup(t.Context(), "fs", group); err != nil {
					t.Fatal(err)
				}
			}
			tc.add(c)
			filesystems, err := client.FileSystems(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := tagged(t, driver.CephFS, c, filesystems[0].DataPools[0])
			if err != nil {
				t.Fatal(err)
			}
			var groups []string
			for _, place := range got {
				groups = append(groups, place.SubvolumeGroup)
			}
			if diff := cmp.Diff(tc.groups, groups); diff != "" {
				t.Errorf("%s: groups (-want +got):\n%s", tc.reason, diff)
			}
			if _, err := tagged(t, driver.CephFS, c, filesystems[1].MetadataPool); !errors.Is(err, ceph.ErrNoActiveMDS) {
				t.Errorf("without an MDS: %v; unreadable is not empty", err)
			}
		})
	}
}
