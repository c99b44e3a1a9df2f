package check

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// withCDI has CDI, which knows a StorageClass of RBD.
func (r *rig) withCDI(status map[string]any) {
	r.objects = append(r.objects, class("vms", driver.RBD.Name, map[string]string{"pool": "vms"}))
	snapshots := object("snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", "s", "driver", driver.RBD.Name)
	snapshots.Object["parameters"] = map[string]any{"clusterID": cephtest.FSID}
	r.others = append(r.others, snapshots,
		object("apiextensions.k8s.io/v1", "CustomResourceDefinition", virtualization.ProfilesCRD, "spec", nil),
		object("cdi.kubevirt.io/v1beta1", "StorageProfile", "vms", "status", status))
}

func TestVirtualMachines(t *testing.T) {
	const k = "Kubernetes"
	sound := func() map[string]any {
		return map[string]any{
			"cloneStrategy": "csi-clone", "snapshotClass": "s",
			"claimPropertySets": []any{map[string]any{"accessModes": []any{"ReadWriteMany"}, "volumeMode": "Block"}},
		}
	}
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   []expect
	}{
		"NoCDI": {
			reason: "nobody has virtual machines", change: func(*rig) {},
			want: []expect{{group: k, name: "virtual machines", state: OK, message: []string{"not there"}}},
		},
		"NoClass": {
			reason: "before the installation",
			change: func(r *rig) {
				r.others = append(r.others, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", virtualization.ProfilesCRD, "spec", nil))
			},
			want: []expect{{group: k, name: "virtual machines", state: OK, message: []string{"no StorageClass"}}},
		},
		"Sound": {
			reason: "all that Ceph can", change: func(r *rig) { r.withCDI(sound()) },
			want: []expect{{group: k, name: "virtual machines on vms", state: OK, message: []string{
				"dataDisk, export, image, liveMigration, rootDisk, snapshot, template", "no backup (not supported",
			}}},
		},
		"Copied": {
			reason: "each no has its reason",
			change: func(r *rig) {
				status := sound()
				status["cloneStrategy"] = "copy"
				delete(status, "snapshotClass")
				r.withCDI(status)
			},
			want: []expect{{group: k, name: "virtual machines on vms", state: Note, message: []string{
				"no rootDisk (disks are copied", "no snapshot (the StorageProfile names no snapshot class)", "dataDisk, image, liveMigration",
			}}},
		},
		"Override": {
			reason: "CDI's own setting is above all",
			change: func(r *rig) {
				r.withCDI(sound())
				r.others = append(r.others, object("cdi.kubevirt.io/v1beta1", "CDI", "cdi", "spec", map[string]any{"cloneStrategyOverride": "copy"}))
			},
			want: []expect{{group: k, name: "virtual machines on vms", state: Note, message: []string{"the clone strategy of CDI cdi"}}},
		},
		"OtherCluster": {
			reason: "a snapshot class of another Ceph cluster",
			change: func(r *rig) {
				r.withCDI(sound())
				for _, o := range r.others {
					if o.GetKind() == "VolumeSnapshotClass" {
						_ = unstructured.SetNestedField(o.Object, "other", "parameters", "clusterID")
					}
				}
			},
			want: []expect{{group: k, name: "virtual machines on vms", state: Note, message: []string{"no snapshot", "Ceph cluster"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			r.withCluster()
			verify(t, r.run(), tc.want)
		})
	}
}
