package tags

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func uuid(i int) string { return fmt.Sprintf("6e696bba-064f-11ec-a251-%012d", i) }

// provisioned is a bound volume as ceph-csi makes it.
func provisioned(d driver.Driver, i int, location int64) *corev1.PersistentVolume {
	name := fmt.Sprintf("pvc-%d", i)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef:                      &corev1.ObjectReference{Namespace: "shop", Name: "data"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: d.Name, VolumeHandle: fmt.Sprintf("0001-0024-%s-%016x-%s", cephtest.FSID, location, uuid(i)),
				VolumeAttributes: map[string]string{"clusterID": cephtest.FSID},
			}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
}

// own are the tags of volume i.
func own(i int, more ...string) map[string]string {
	out := map[string]string{
		ceph.TagCluster: infraID, ceph.TagPV: fmt.Sprintf("pvc-%d", i), ceph.TagPVC: "data", ceph.TagPVCNamespace: "shop",
	}
	for n := 0; n+1 < len(more); n += 2 {
		out[more[n]] = more[n+1]
	}
	return out
}

func flat(values map[string]string) []string {
	var out []string
	for key, value := range maps.All(values) {
		out = append(out, key, value)
	}
	return out
}

func imageOf(i int) ceph.ImagePlace {
	return ceph.ImagePlace{Pool: "rbd", Name: "csi-vol-" + uuid(i)}
}

func subvolumeOf(i int) ceph.SubvolumePlace {
	return ceph.SubvolumePlace{Filesystem: "myfs", Group: "csi", Name: "csi-vol-" + uuid(i)}
}

// fixture has volumes of one driver.
type fixture struct {
	driver driver.Driver
	add    func(r *rig, i int, metadata ...string)
	get    func(r *rig, i int) map[string]string
}

var fixtures = map[string]fixture{
	"RBD": {
		driver: driver.RBD,
		add: func(r *rig, i int, metadata ...string) {
			r.ceph.AddJournal("rbd", "", "csi.volume."+uuid(i), "csi.imagename", imageOf(i).Name)
			r.ceph.AddImage(imageOf(i), metadata...)
		},
		get: func(r *rig, i int) map[string]string { return r.ceph.Image(imageOf(i)) },
	},
	"CephFS": {
		driver: driver.CephFS,
		add: func(r *rig, i int, metadata ...string) {
			r.ceph.AddJournal("myfs-metadata", "csi", "csi.volume."+uuid(i), "csi.imagename", subvolumeOf(i).Name)
			r.ceph.AddSubvolume(subvolumeOf(i), metadata...)
		},
		get: func(r *rig, i int) map[string]string { return r.ceph.Subvolume(subvolumeOf(i)) },
	},
}

// each runs a test for both drivers.
func each(t *testing.T, test func(t *testing.T, f fixture, r *rig)) {
	for name, f := range fixtures {
		t.Run(name, func(t *testing.T) { test(t, f, newRig(t, f.driver)) })
	}
}

// expect wants these tags, and that of the owner beside ours where ceph-csi takes that away.
func (f fixture) expect(t *testing.T, r *rig, i int, want map[string]string) {
	t.Helper()
	if r.config.Driver.DetachUntags && want[ceph.TagCluster] == infraID && want[ceph.TagOwner] == "" {
		want[ceph.TagOwner] = infraID
	}
	if diff := cmp.Diff(want, f.get(r, i)); diff != "" {
		t.Errorf("tags of volume %d (-want +got):\n%s", i, diff)
	}
}
