package classes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// unspoken says in sorted sentences which StorageClasses have volumes that no node mounts: a kernel speaks Ceph's
// messenger protocol 1 unless ms_mode is among its options, and no mon does.
func unspoken(d driver.Driver, all []*storagev1.StorageClass, settings driver.Settings, clusters []ceph.Cluster) []string {
	v2Only := map[string]bool{}
	for _, c := range clusters {
		v2Only[c.FSID] = c.MonMap.V2Only()
	}
	var out []string
	for _, class := range all {
		fsid := d.Storage.FromParameters(class.Parameters).FSID
		if class.Provisioner != d.Name || !v2Only[fsid] || driver.InUserSpace(class.Parameters) ||
			d.SpeaksMsgr2(class.Parameters, settings) {
			continue
		}
		remedy := fmt.Sprintf("make it anew with %s in parameter %s", driver.PreferCRC, d.KernelOptions)
		if d.Owns(class) {
			remedy = fmt.Sprintf("add %s to spec.driverConfig.ceph.%s of ClusterCSIDriver %s", driver.PreferCRC, d.KernelOptions, d.Name)
		}
		out = append(out, fmt.Sprintf("StorageClass %s: no node mounts its volumes: the mons of Ceph cluster %s speak messenger protocol 2 alone, and the kernel of a node does that only when told; %s",
			class.Name, fsid, remedy))
	}
	slices.Sort(out)
	return out
}

// unheard says of the Ceph cluster in use which StorageClasses of users, and which volumes, are Driver.Unheard. A volume keeps
// the options with which it was made.
func unheard(d driver.Driver, all []*storagev1.StorageClass, volumes []*corev1.PersistentVolume, settings driver.Settings, inUse ceph.Cluster) []string {
	deaf := func(parameters map[string]string) bool {
		return d.Storage.FromParameters(parameters).FSID == inUse.FSID && d.Unheard(parameters, settings, inUse.MonMap)
	}
	const why = "their options have nodes speak messenger protocol 2, and config.json has the mons by their addresses of protocol 1"
	remedy := fmt.Sprintf("add %s to spec.driverConfig.ceph.%s of ClusterCSIDriver %s, which all volumes obey", driver.PreferCRC, d.KernelOptions, d.Name)
	var out, names []string
	for _, class := range all {
		if class.Provisioner == d.Name && !d.Owns(class) && deaf(class.Parameters) {
			out = append(out, fmt.Sprintf("StorageClass %s: no node mounts its volumes: %s; %s, or make the class anew without", class.Name, why, remedy))
		}
	}
	for _, volume := range volumes {
		if deaf(volume.Spec.CSI.VolumeAttributes) {
			names = append(names, volume.Name)
		}
	}
	slices.Sort(out)
	if slices.Sort(names); len(names) > 0 {
		out = append(out, fmt.Sprintf("PersistentVolumes %s: no node mounts them anew: %s; %s", condition.Names(names, shown), why, remedy))
	}
	return out
}
