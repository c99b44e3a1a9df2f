package virtualization

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Mistake is what keeps disks of virtual machines from working, or from working well.
type Mistake struct {
	// Reason is one of pkg/condition.
	Reason string
	// APIVersion, Kind, Name and UID are of the object to mend.
	APIVersion, Kind, Name string
	UID                    types.UID
	// Message says what is wrong and how to mend it.
	Message string
}

// machineFacts are what mistakes are looked for in.
type machineFacts struct {
	driver driver.Driver
	// classes are all StorageClasses.
	classes []*storagev1.StorageClass
	// profiles are CDI's, snapshots the snapshot classes of all drivers.
	profiles  []*unstructured.Unstructured
	snapshots []snapshotClass
	// snapshotting says that there are snapshots in this cluster at all.
	snapshotting bool
	// importers are the objects that configure CDI.
	importers []*unstructured.Unstructured
	// config is Harvester's Setting csi-driver-config, or nil.
	config *unstructured.Unstructured
	// harvester says that this is Harvester.
	harvester bool
	// images are the disk images because of which the driver's default StorageClass cannot follow
	// the storageClassState held.
	images []string
	held   operatorv1.StorageClassStateName
	// csiDrivers are the names of all CSIDrivers.
	csiDrivers []string
}

// mistakes looks for all of them, sorted. Each is told by the operator of the driver that it is
// about.
func mistakes(f machineFacts) []Mistake {
	var out []Mistake
	for _, class := range f.classes {
		if class.Provisioner == f.driver.Name {
			out = append(out, f.ofClass(class)...)
		}
	}
	out = slices.Concat(out, f.ofDefaults(), f.ofImporters(), f.ofConfig())
	slices.SortFunc(out, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Message, b.Message))
	})
	return out
}

func (f machineFacts) ofClass(class *storagev1.StorageClass) []Mistake {
	var out []Mistake
	if f.snapshotting && snapshotClassFor(class, f.snapshots) == "" {
		out = append(out, aboutClass(class, condition.SnapshotClassNotFound,
			"has no VolumeSnapshotClass of its driver with clusterID %q: virtual machines on it cannot be snapshotted; create one", class.Parameters[clusterIDParameter]))
	}
	if f.harvester && class.Parameters["encrypted"] == "true" {
		out = append(out, aboutClass(class, condition.EncryptedClass,
			"has the parameter encrypted, which Harvester takes for Longhorn's: it will refuse changes of the class; use one without"))
	}
	if class.Name == f.driver.StorageClass && len(f.images) > 0 {
		out = append(out, aboutClass(class, condition.StorageClassInUseByImages, "%s", usedBy(f.images, f.held)))
	}
	profile := f.profile(class.Name)
	if profile == nil {
		return out
	}
	for _, m := range f.ofProfile(class, below(profile, "spec")) {
		m.APIVersion, m.Kind, m.Name, m.UID = profile.GetAPIVersion(), profile.GetKind(), profile.GetName(), profile.GetUID()
		m.Message = fmt.Sprintf("StorageProfile %s: %s", profile.GetName(), m.Message)
		out = append(out, m)
	}
	return out
}

// usedBy tells why a StorageClass does not follow a storageClassState.
func usedBy(images []string, state operatorv1.StorageClassStateName) string {
	does, ends := "keeps its parameters, which the settings would change", "delete them, or take the settings back"
	if state == operatorv1.RemovedStorageClass {
		does, ends = "stays although spec.storageClassState is Removed", "delete them, or set spec.storageClassState to Managed"
	}
	return fmt.Sprintf("%s: Harvester lets nobody delete it while the VirtualMachineImages %s use it; %s", does, strings.Join(images, ", "), ends)
}

var (
	cloneStrategies = []string{copyStrategy, "csi-clone", "snapshot"}
	imageFormats    = []string{"pvc", "snapshot"}
)

// ofProfile looks at what somebody has put into a StorageProfile: its CRD lets most pass.
func (f machineFacts) ofProfile(class *storagev1.StorageClass, spec values) []Mistake {
	var out []Mistake
	if value, there := spec[cloneStrategyField].(string); there && !slices.Contains(cloneStrategies, value) {
		out = append(out, Mistake{Reason: condition.UnknownCloneStrategy,
			Message: fmt.Sprintf("spec.%s %q is none of %s", cloneStrategyField, value, strings.Join(cloneStrategies, ", "))})
	}
	if value, there := spec[imageFormatField].(string); there && !slices.Contains(imageFormats, value) {
		out = append(out, Mistake{Reason: condition.UnknownSourceFormat,
			Message: fmt.Sprintf("spec.%s %q is none of %s", imageFormatField, value, strings.Join(imageFormats, ", "))})
	}
	if value, there := spec[snapshotClassField].(string); there && f.snapshotting {
		if reason, message := f.snapshotProblem(value, class.Parameters[clusterIDParameter]); reason != "" {
			out = append(out, Mistake{Reason: reason, Message: "spec." + snapshotClassField + ": " + message})
		}
	}
	sets, _ := spec[claimSetsField].([]any)
	for _, s := range sets {
		if set, bad := f.unusable(s); bad {
			out = append(out, Mistake{Reason: condition.UnusableClaimSet,
				Message: fmt.Sprintf("spec.%s has %s with %s, which the driver cannot do; remove it", claimSetsField, set.AccessMode, set.VolumeMode)})
		}
	}
	return out
}

// unusable says that two nodes are to write a volume in a mode in which they cannot share one.
func (f machineFacts) unusable(set any) (driver.ClaimSet, bool) {
	members, _ := set.(map[string]any)
	modes, _ := members["accessModes"].([]any)
	volumeMode, _ := members["volumeMode"].(string)
	shared := f.driver.Virtualization.ClaimSets[0]
	if volumeMode == shared.VolumeMode || !slices.Contains(modes, any(shared.AccessMode)) {
		return driver.ClaimSet{}, false
	}
	return driver.ClaimSet{AccessMode: shared.AccessMode, VolumeMode: volumeMode}, true
}

// snapshotProblem says why a snapshot class is not for volumes of the driver; clusterID is that
// of the volumes, empty for any.
func (f machineFacts) snapshotProblem(name, clusterID string) (reason, message string) {
	i := slices.IndexFunc(f.snapshots, func(s snapshotClass) bool { return s.name == name })
	if i < 0 {
		return condition.SnapshotClassNotFound, fmt.Sprintf("VolumeSnapshotClass %q does not exist", name)
	}
	held := f.snapshots[i]
	if held.driver != f.driver.Name {
		return condition.SnapshotClassDriver, fmt.Sprintf("VolumeSnapshotClass %q is of driver %s, not %s", name, held.driver, f.driver.Name)
	}
	if clusterID != "" && held.clusterID != clusterID {
		return condition.SnapshotClassCluster, fmt.Sprintf("VolumeSnapshotClass %q is of the Ceph cluster %q, the volumes of %q", name, held.clusterID, clusterID)
	}
	return "", ""
}

// ofDefaults finds several defaults where there can be one; each driver tells of its own.
func (f machineFacts) ofDefaults() []Mistake {
	var out []Mistake
	var machines []string
	var mine *storagev1.StorageClass
	for _, class := range f.classes {
		if class.Annotations[defaultForMachines] != "true" {
			continue
		}
		machines = append(machines, class.Name)
		if class.Provisioner == f.driver.Name {
			mine = class
		}
	}
	if len(machines) > 1 && mine != nil {
		slices.Sort(machines)
		out = append(out, aboutClass(mine, condition.MultipleDefaultVirtClasses,
			"is not the only one with the annotation %s: %s; leave it at one", defaultForMachines, strings.Join(machines, ", ")))
	}
	var snapshots []string
	for _, s := range f.snapshots {
		if s.isDefault && s.driver == f.driver.Name {
			snapshots = append(snapshots, s.name)
		}
	}
	if len(snapshots) > 1 {
		slices.Sort(snapshots)
		out = append(out, Mistake{
			Reason: condition.MultipleDefaultSnapshotClasses, APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshotClass", Name: snapshots[0],
			Message: fmt.Sprintf("VolumeSnapshotClasses %s of driver %s have the annotation %s; leave it at one", strings.Join(snapshots, ", "), f.driver.Name, defaultSnapshotClass),
		})
	}
	return out
}

// ofImporters finds a strategy that overrides those of all StorageProfiles.
func (f machineFacts) ofImporters() []Mistake {
	var out []Mistake
	for _, cdi := range f.importers {
		strategy, _, _ := unstructured.NestedString(cdi.Object, "spec", "cloneStrategyOverride")
		if strategy == "" || strategy == f.driver.Virtualization.CloneStrategy {
			continue
		}
		out = append(out, Mistake{
			Reason: condition.CloneOverride, APIVersion: cdi.GetAPIVersion(), Kind: cdi.GetKind(), Name: cdi.GetName(), UID: cdi.GetUID(),
			Message: fmt.Sprintf("CDI %s: spec.cloneStrategyOverride is %q, disks are not cloned by Ceph; remove it", cdi.GetName(), strategy),
		})
	}
	return out
}

func aboutClass(class *storagev1.StorageClass, reason, format string, arguments ...any) Mistake {
	return Mistake{
		Reason: reason, APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass", Name: class.Name, UID: class.UID,
		Message: "StorageClass " + class.Name + " " + fmt.Sprintf(format, arguments...),
	}
}
