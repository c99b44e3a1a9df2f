package classes

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestGroupClassNeedsTheSnapshotter: with a class that the controllers do not serve, no request becomes ready.
func TestGroupClassNeedsTheSnapshotter(t *testing.T) {
	r := newSnapshotsRig(t)
	takes := false
	r.config.GroupSnapshots = func() bool { return takes }
	var err error
	if r.controller, err = NewSnapshots(r.config); err != nil {
		t.Fatal(err)
	}
	r.sync(t)
	if writes := r.writes(); !slices.Equal(writes, []string{"create volumesnapshotclasses"}) {
		t.Errorf("without: %q", writes)
	}
	takes = true
	r.settle(t, "once the CRDs are those of the snapshotter", func() bool { return slices.Contains(r.writes(), "create volumegroupsnapshotclasses") })
}

// TestGroupClassNeedsCeph: with a class of what Ceph cannot do, each request fails, and leaves something in a pool.
func TestGroupClassNeedsCeph(t *testing.T) {
	tests := map[string]struct {
		driver  driver.Driver
		release string
		want    bool
	}{
		"CephFSOld":     {driver.CephFS, "18.2.7", false},
		"CephFSFirst":   {driver.CephFS, "19.2.0", true},
		"CephFSNew":     {driver.CephFS, "20.2.4", true},
		"CephFSUnknown": {driver.CephFS, "", true},
		"RBDOld":        {driver.RBD, "16.2.15", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newSnapshotsRig(t)
			r.config.Driver = tc.driver
			r.config.Manifests = [][]byte{manifest(t, tc.driver, assets.VolumeSnapshotClass), manifest(t, tc.driver, assets.VolumeGroupSnapshotClass)}
			r.config.Cluster.Set(ceph.Cluster{FSID: "f", Version: tc.release})
			var err error
			if r.controller, err = NewSnapshots(r.config); err != nil {
				t.Fatal(err)
			}
			r.sync(t)
			writes := r.writes()
			if !slices.Contains(writes, "create volumesnapshotclasses") || slices.Contains(writes, "create volumegroupsnapshotclasses") != tc.want {
				t.Errorf("with Ceph %q: %q", tc.release, writes)
			}
			if tc.want {
				return
			}
			r.config.Cluster.Set(ceph.Cluster{FSID: "f", Version: "19.2.3"})
			r.settle(t, "after an upgrade of Ceph", func() bool { return slices.Contains(r.writes(), "create volumegroupsnapshotclasses") })
		})
	}
}
