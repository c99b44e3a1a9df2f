package classes

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestUnspoken(t *testing.T) {
	const fsid = "f"
	cluster := func(id string, protocols ...ceph.Protocol) ceph.Cluster {
		mon := ceph.Mon{Name: "a"}
		for _, p := range protocols {
			mon.Addrs = append(mon.Addrs, ceph.Address{Protocol: p})
		}
		return ceph.Cluster{FSID: id, MonMap: ceph.MonMap{Mons: []ceph.Mon{mon}}}
	}
	v2 := []ceph.Cluster{cluster(fsid, ceph.V2)}
	tests := map[string]struct {
		driver     driver.Driver
		mark       string
		parameters map[string]string
		settings   driver.Settings
		clusters   []ceph.Cluster
		want       []string
	}{
		"Untold":       {driver: driver.RBD, clusters: v2, want: []string{"StorageClass ceph-rbd", fsid, "parameter mapOptions", "ms_mode=prefer-crc", "make it anew"}},
		"OfOurs":       {driver: driver.RBD, mark: driver.RBD.OperatorName(), clusters: v2, want: []string{"StorageClass ceph-rbd", "ms_mode=prefer-crc", "spec.driverConfig.ceph.mapOptions", driver.RBD.Name}},
		"Legacy":       {driver: driver.RBD, parameters: map[string]string{"mapOptions": "krbd:ms_mode=legacy"}, clusters: v2, want: []string{"StorageClass ceph-rbd"}},
		"Told":         {driver: driver.RBD, parameters: map[string]string{"mapOptions": "krbd:ms_mode=secure"}, clusters: v2},
		"SettingsTell": {driver: driver.RBD, settings: driver.Settings{MapOptions: "ms_mode=crc"}, clusters: v2, want: []string{"StorageClass ceph-rbd"}},
		"NBD":          {driver: driver.RBD, parameters: map[string]string{"mounter": "rbd-nbd"}, clusters: v2},
		"CephFS":       {driver: driver.CephFS, clusters: v2, want: []string{"parameter kernelMountOptions"}},
		"CephFSTold":   {driver: driver.CephFS, parameters: map[string]string{"kernelMountOptions": "noatime"}, settings: driver.Settings{KernelMountOptions: "ms_mode=crc"}, clusters: v2},
		"Fuse":         {driver: driver.CephFS, parameters: map[string]string{"mounter": "fuse"}, clusters: v2},
		"Both":         {driver: driver.RBD, clusters: []ceph.Cluster{cluster(fsid, ceph.V2, ceph.V1)}},
		"AnotherIs":    {driver: driver.RBD, clusters: []ceph.Cluster{cluster(fsid, ceph.V1), cluster("g", ceph.V2)}},
		"Unknown":      {driver: driver.RBD},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mine := class(tc.driver.Name, tc.mark, map[string]string{"clusterID": fsid})
			maps.Copy(mine.Parameters, tc.parameters)
			others := class("other.csi.example.com", "", map[string]string{"clusterID": fsid})
			got := unspoken(tc.driver, []*storagev1.StorageClass{others, mine}, tc.settings, tc.clusters)
			if len(got) > 1 || (len(got) == 1) != (tc.want != nil) {
				t.Fatalf("got %q, want one sentence or none with %q", got, tc.want)
			}
			for _, part := range tc.want {
				if !strings.Contains(got[0], part) {
					t.Errorf("%q does not contain %q", got[0], part)
				}
			}
		})
	}
}

func TestUnheard(t *testing.T) {
	const fsid = "f"
	mon := func(protocols ...ceph.Protocol) ceph.Cluster {
		m := ceph.Mon{Name: "a"}
		for _, p := range protocols {
			m.Addrs = append(m.Addrs, ceph.Address{Protocol: p})
		}
		return ceph.Cluster{FSID: fsid, MonMap: ceph.MonMap{Mons: []ceph.Mon{m}}}
	}
	both := mon(ceph.V2, ceph.V1)
	secure := map[string]string{"kernelMountOptions": "ms_mode=secure"}
	tests := map[string]struct {
		driver        driver.Driver
		mark          string
		class, volume map[string]string
		settings      driver.Settings
		inUse         ceph.Cluster
		want          []string
	}{
		"Class":    {driver: driver.CephFS, class: secure, inUse: both, want: []string{"StorageClass ceph-rbd: no node mounts its volumes"}},
		"Ours":     {driver: driver.CephFS, mark: driver.CephFS.OperatorName(), class: secure, inUse: both},
		"Volume":   {driver: driver.CephFS, volume: secure, inUse: both, want: []string{"PersistentVolumes pvc-1: no node mounts them anew"}},
		"All":      {driver: driver.CephFS, class: secure, volume: secure, inUse: both, want: []string{"StorageClass ceph-rbd", "PersistentVolumes pvc-1"}},
		"Settings": {driver: driver.CephFS, class: secure, volume: secure, settings: driver.Settings{KernelMountOptions: "ms_mode=crc"}, inUse: both},
		"Legacy":   {driver: driver.CephFS, volume: secure, settings: driver.Settings{KernelMountOptions: "ms_mode=legacy"}, inUse: both},
		"Plain":    {driver: driver.CephFS, inUse: both},
		"Fuse":     {driver: driver.CephFS, volume: map[string]string{"mounter": "fuse", "kernelMountOptions": "ms_mode=secure"}, inUse: both},
		"V2Only":   {driver: driver.CephFS, class: secure, volume: secure, inUse: mon(ceph.V2)},
		"V1Only":   {driver: driver.CephFS, class: secure, volume: secure, inUse: mon(ceph.V1)},
		"Unknown":  {driver: driver.CephFS, class: secure, volume: secure},
		"Another":  {driver: driver.CephFS, class: secure, volume: secure, inUse: ceph.Cluster{FSID: "g", MonMap: both.MonMap}},
		"RBD":      {driver: driver.RBD, class: map[string]string{"mapOptions": "krbd:ms_mode=secure"}, inUse: both},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mine := class(tc.driver.Name, tc.mark, map[string]string{"clusterID": fsid})
			maps.Copy(mine.Parameters, tc.class)
			volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}}
			volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{VolumeAttributes: map[string]string{"clusterID": fsid}}
			maps.Copy(volume.Spec.CSI.VolumeAttributes, tc.volume)
			got := unheard(tc.driver, []*storagev1.StorageClass{mine}, []*corev1.PersistentVolume{volume}, tc.settings, tc.inUse)
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i, part := range tc.want {
				if !strings.Contains(got[i], part) || !strings.Contains(got[i], "add ms_mode=prefer-crc to spec.driverConfig.ceph.kernelMountOptions of ClusterCSIDriver cephfs.csi.ceph.com") {
					t.Errorf("%q does not contain %q and what to do", got[i], part)
				}
			}
		})
	}
}
