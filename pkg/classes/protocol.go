package classes

import (
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
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
			driver.Msgr2(d.Storage.KernelOptions(class.Parameters, settings)) {
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
