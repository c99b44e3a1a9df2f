package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestLegacy(t *testing.T) {
	flex := func(name string, options map[string]string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: name, Options: options}}
	}
	rbd := corev1.PersistentVolumeSource{RBD: &corev1.RBDPersistentVolumeSource{
		CephMonitors: []string{"10.0.0.2:6789", "10.0.0.1:6789"}, RBDPool: "old", RBDImage: "i", RadosUser: "u",
	}}
	tests := map[string]struct {
		reason string
		source corev1.PersistentVolumeSource
		driver driver.Driver
		want   driver.Legacy
	}{
		"RBD": {"mons in any order", rbd, driver.RBD,
			driver.Legacy{Plugin: "in-tree rbd", Monitors: "10.0.0.1:6789,10.0.0.2:6789", Pool: "old"}},
		"RBDDefaultPool": {"Kubernetes' default", corev1.PersistentVolumeSource{RBD: &corev1.RBDPersistentVolumeSource{}}, driver.RBD,
			driver.Legacy{Plugin: "in-tree rbd", Pool: "rbd"}},
		"CephFS": {"it names no filesystem",
			corev1.PersistentVolumeSource{CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: []string{"10.0.0.1:6789"}, Path: "/a"}}, driver.CephFS,
			driver.Legacy{Plugin: "in-tree cephfs", Monitors: "10.0.0.1:6789"}},
		"Flex": {"Rook's images", flex("ceph.rook.io/rook-ceph", map[string]string{"pool": "replicapool", "dataBlockPool": "ec", "image": "i"}), driver.RBD,
			driver.Legacy{Plugin: "flexVolume ceph.rook.io/rook-ceph", Pool: "replicapool", DataPool: "ec"}},
		"FlexBlockPool": {"an older name of the option", flex("ceph.rook.io/rook", map[string]string{"blockPool": "b"}), driver.RBD,
			driver.Legacy{Plugin: "flexVolume ceph.rook.io/rook", Pool: "b"}},
		"FlexFilesystem": {"Rook's files", flex("rook.io/rook", map[string]string{"fsName": "f"}), driver.CephFS,
			driver.Legacy{Plugin: "flexVolume rook.io/rook", Filesystem: "f"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pv := other(tc.source)
			trimmed := &corev1.PersistentVolume{}
			driver.KeepLegacy(pv.Spec, &trimmed.Spec)
			for _, volumes := range [][]*corev1.PersistentVolume{{pv, pv}, {trimmed, trimmed}} {
				for _, d := range driver.All {
					want := Usage{}
					if d.Name == tc.driver.Name {
						want.Legacy = []Legacy{{Legacy: tc.want, Volumes: 2}}
					}
					if diff := cmp.Diff(want, Of(d, nil, nil, volumes)); diff != "" {
						t.Errorf("%s: %s (-want +got):\n%s", tc.reason, d.Name, diff)
					}
				}
			}
			if rbd := trimmed.Spec.RBD; rbd != nil && (rbd.RBDImage != "" || rbd.RadosUser != "") {
				t.Errorf("%s: kept %+v", tc.reason, rbd)
			}
		})
	}
	for name, source := range map[string]corev1.PersistentVolumeSource{
		"NFS":       {NFS: &corev1.NFSVolumeSource{}},
		"OtherFlex": flex("example.com/nfs", map[string]string{"pool": "a"}),
		"OtherCSI":  {CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com"}},
	} {
		trimmed := other(corev1.PersistentVolumeSource{})
		driver.KeepLegacy(corev1.PersistentVolumeSpec{PersistentVolumeSource: source}, &trimmed.Spec)
		if diff := cmp.Diff(corev1.PersistentVolumeSpec{}, trimmed.Spec); diff != "" {
			t.Errorf("%s is kept:\n%s", name, diff)
		}
		for _, d := range driver.All {
			if got := Of(d, nil, nil, []*corev1.PersistentVolume{other(source)}); len(got.Legacy)+len(got.Places) > 0 {
				t.Errorf("%s is nothing of Ceph's: %+v", name, got)
			}
		}
	}
}
