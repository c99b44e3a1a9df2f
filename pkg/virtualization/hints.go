package virtualization

import (
	"cmp"
	"slices"
	"strconv"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Fields of a StorageProfile's spec.
const (
	claimSetsField     = "claimPropertySets"
	cloneStrategyField = "cloneStrategy"
	imageFormatField   = "dataImportCronSourceFormat"
	snapshotClassField = "snapshotClass"
)

const (
	clusterIDParameter   = "clusterID"
	defaultSnapshotClass = "snapshot.storage.kubernetes.io/is-default-class"
	// chosenStrategy is how CDI lets an administrator choose on a StorageClass. A StorageProfile's spec wins over it.
	chosenStrategy = "cdi.kubevirt.io/clone-strategy"
	copyStrategy   = "copy"
)

// snapshotClass is what is read of a VolumeSnapshotClass.
type snapshotClass struct {
	name, driver, clusterID string
	isDefault, ours         bool
}

func readSnapshotClass(object *unstructured.Unstructured, d driver.Driver) snapshotClass {
	name, _, _ := unstructured.NestedString(object.Object, "driver")
	cluster, _, _ := unstructured.NestedString(object.Object, "parameters", clusterIDParameter)
	return snapshotClass{
		name: object.GetName(), driver: name, clusterID: cluster,
		isDefault: object.GetAnnotations()[defaultSnapshotClass] == "true",
		ours:      d.Owns(object),
	}
}

func readSnapshotClasses(w *Watches, d driver.Driver) []snapshotClass {
	var out []snapshotClass
	for _, object := range w.list(snapshotClasses) {
		out = append(out, readSnapshotClass(object, d))
	}
	return out
}

// snapshotClassFor returns the class that snapshots the volumes of a StorageClass: of the same
// driver and the same Ceph cluster, which CDI does not look at. Of several it is the default
// one, else the operator's own, else the first by name; empty if there is none.
func snapshotClassFor(class *storagev1.StorageClass, all []snapshotClass) string {
	fits := slices.DeleteFunc(slices.Clone(all), func(s snapshotClass) bool {
		return s.driver != class.Provisioner || s.clusterID != class.Parameters[clusterIDParameter]
	})
	if len(fits) == 0 {
		return ""
	}
	return slices.MinFunc(fits, func(a, b snapshotClass) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	}).name
}

func rank(s snapshotClass) int {
	switch {
	case s.isDefault:
		return 0
	case s.ours:
		return 1
	}
	return 2
}

// hints are the fields of a StorageProfile that the operator wants for a StorageClass. What
// CDI knows by itself is left to it, unless an earlier write has already made it ours; so it
// stays in charge when it learns more.
//
//	field         | wanted
//	snapshotClass | when a class fits: CDI does not look at the Ceph cluster
//	claim sets    | unless CDI's first is the driver's first
//	cloneStrategy | unless CDI's is the driver's, or a person chose one on the class
//	image format  | where snapshots work, unless CDI's is the driver's
func hints(v driver.Virtualization, class *storagev1.StorageClass, snapshotClass string, status values, ours []string) values {
	out := values{}
	if snapshotClass != "" {
		out[snapshotClassField] = snapshotClass
	}
	wants := func(key string, known bool) bool { return !known || slices.Contains(ours, key) }
	if wants(claimSetsField, startsWith(status[claimSetsField], v.ClaimSets[0])) {
		out[claimSetsField] = claimSets(v.ClaimSets)
	}
	chosen := slices.Contains(cloneStrategies, class.Annotations[chosenStrategy])
	if !chosen && wants(cloneStrategyField, status[cloneStrategyField] == v.CloneStrategy) {
		out[cloneStrategyField] = v.CloneStrategy
	}
	if v.ImageFormat != "" && snapshotClass != "" && wants(imageFormatField, status[imageFormatField] == v.ImageFormat) {
		out[imageFormatField] = v.ImageFormat
	}
	return out
}

// suiting is the driver's with what a class needs: copies where boot images, which are on the class images, are encrypted otherwise.
func suiting(v driver.Virtualization, class, images *storagev1.StorageClass) driver.Virtualization {
	if images != nil && neverCloned(images, class) {
		v.CloneStrategy = copyStrategy
	}
	return v
}

// encrypts reads the parameter as ceph-csi does.
func encrypts(class *storagev1.StorageClass) bool {
	yes, _ := strconv.ParseBool(class.Parameters["encrypted"])
	return yes
}

// neverCloned says that ceph-csi makes no volume of the one class, or none of use, from a volume or a snapshot of the other.
func neverCloned(a, b *storagev1.StorageClass) bool {
	return a.Provisioner == b.Provisioner && encrypts(a) != encrypts(b)
}

// startsWith says whether the first of CDI's claim sets offers the access mode, and the volume
// mode, of set.
func startsWith(sets any, set driver.ClaimSet) bool {
	list, _ := sets.([]any)
	if len(list) == 0 {
		return false
	}
	first, _ := list[0].(map[string]any)
	modes, _ := first["accessModes"].([]any)
	return first["volumeMode"] == set.VolumeMode && slices.Contains(modes, any(set.AccessMode))
}

func claimSets(sets []driver.ClaimSet) []any {
	var out []any
	for _, s := range sets {
		out = append(out, map[string]any{"accessModes": []any{s.AccessMode}, "volumeMode": s.VolumeMode})
	}
	return out
}
