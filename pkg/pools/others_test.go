package pools

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// others is a volume that another CSI driver of Ceph serves.
func others(name, clusterID string, location int64, attributes map[string]string) *corev1.PersistentVolume {
	pv := volume(driver.RBD, "others", attributes)
	pv.Spec.CSI.Driver = name
	pv.Spec.CSI.VolumeHandle = fmt.Sprintf("0001-%04x-%s-%016x-6e696bba-064f-11ec-a251-0242ac110002", len(clusterID), clusterID, location)
	return pv
}

func TestPoolsOfOtherDriversAreProtected(t *testing.T) {
	const rook, lost = "rook-ceph", "00000000-3a1f-4fcb-8b0a-0b6d1f0c2a11"
	tests := map[string]struct {
		reason string
		volume *corev1.PersistentVolume
		want   []string
	}{
		"Rook": {"the clusterID is Rook's, name and ID are those of a pool",
			others("rook-ceph.rbd.csi.ceph.com", rook, 2, map[string]string{"clusterID": rook, "pool": "b"}), []string{"b"}},
		"ODF": {"a data pool has no ID in the handle",
			others("openshift-storage.rbd.csi.ceph.com", "openshift-storage", 2, map[string]string{"pool": "b", "dataPool": "a"}), []string{"a", "b"}},
		"Beside": {"another Helm release with the Ceph cluster's fsid",
			others("team.rbd.csi.ceph.com", cephtest.FSID, 1, nil), []string{"a"}},
		"AnyName": {"a driver of ceph-csi may be called anything",
			others("block.example.com", cephtest.FSID, 1, map[string]string{"pool": "a", "imageName": "csi-vol-x"}), []string{"a"}},
		"NVMeOF": {"the images are RBD's",
			others("nvmeof.csi.ceph.com", cephtest.FSID, 1, map[string]string{"pool": "a"}), []string{"a"}},
		"OtherPool": {"a pool has the ID, but another name: it is another Ceph cluster's",
			others("rook-ceph.rbd.csi.ceph.com", rook, 1, map[string]string{"clusterID": rook, "pool": "b"}), nil},
		"Elsewhere": {"the fsid is another",
			others("rook-ceph.rbd.csi.ceph.com", lost, 1, map[string]string{"clusterID": lost, "pool": "a"}), nil},
		"Files":  {"the other driver's", others("rook-ceph.cephfs.csi.ceph.com", cephtest.FSID, 1, map[string]string{"fsName": "f"}), nil},
		"NoCeph": {"nothing of Ceph's", others("ebs.csi.aws.com", cephtest.FSID, 1, nil), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD)
			r.ceph.AddPool(ceph.Pool{Name: "a", Applications: []string{"rbd"}})
			r.ceph.AddPool(ceph.Pool{Name: "b", Applications: []string{"rbd"}})
			r.use(t, nil, tc.volume)
			r.expectFlagged(t, tc.reason, tc.want...)
			for _, p := range r.ceph.Pools() {
				value := p.Metadata["rbd"][driver.ClaimKey("infra", "rbd")]
				if value == driver.ClaimInUse || value == driver.ClaimUnprotected {
					t.Errorf("the claim %q gives this driver's users rights to another driver's pool", value)
				}
			}
			r.settings.PoolProtection = driver.PoolsUnprotected
			r.later(t)
			r.expectFlagged(t, "poolProtection is Disabled")
			r.settings.PoolProtection = driver.PoolsProtected
			r.later(t)
			r.expectFlagged(t, tc.reason, tc.want...)
			r.use(t, nil)
			r.expectFlagged(t, "it has gone")
			for _, p := range r.ceph.Pools() {
				if _, keys := marked(t, r.ceph, p.Name); len(keys) > 0 {
					t.Errorf("keys are left: %q", keys)
				}
			}
		})
	}
}

func TestFilesystemsOfOtherDriversAreProtected(t *testing.T) {
	for _, name := range []string{"rook-ceph.cephfs.csi.ceph.com", "rook-ceph.nfs.csi.ceph.com"} {
		r := newCareRig(t, driver.CephFS)
		r.ceph.AddFileSystem("a", true)
		r.ceph.AddFileSystem("b", true)
		r.use(t, nil, others(name, "rook-ceph", 2, map[string]string{"fsName": "b"}))
		r.expectFlagged(t, name, "b-data", "b-metadata")
	}
}

// TestOwnUseOutweighsOthers: the driver's users need their rights as soon as it uses the pool, too.
func TestOwnUseOutweighsOthers(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	theirs := others("rook-ceph.rbd.csi.ceph.com", cephtest.FSID, 1, map[string]string{"pool": "p"})
	value := func() string { return r.ceph.Pools()[0].Metadata["rbd"][driver.ClaimKey("infra", "rbd")] }
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")), theirs)
	if got := value(); got != driver.ClaimInUse {
		t.Errorf("claim %q, want %q", got, driver.ClaimInUse)
	}
	r.use(t, nil, theirs)
	if got := value(); slices.Contains([]string{"", driver.ClaimInUse, driver.ClaimUnprotected}, got) {
		t.Errorf("claim %q, once only another driver uses the pool", got)
	}
	r.expectFlagged(t, "another driver's volume is left", "p")
}
