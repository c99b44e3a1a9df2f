package virtualization

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Machines is what virtual machines can do on a StorageClass: by its name and that of the
// feature, why not; empty if they can.
type Machines map[string]map[string]string

// Classes are the first StorageClasses by name, and how many are left out.
func (m Machines) Classes(most int) ([]string, int) {
	names := slices.Sorted(maps.Keys(m))
	shown := min(len(names), most)
	return names[:shown], len(names) - shown
}

// Features of virtual machines, as in Harvester's support matrix of third-party storage.
const (
	featureImage         = "image"
	featureRootDisk      = "rootDisk"
	featureDataDisk      = "dataDisk"
	featureExport        = "export"
	featureTemplate      = "template"
	featureLiveMigration = "liveMigration"
	featureSnapshot      = "snapshot"
	featureBackup        = "backup"
)

// NeverWorks are the features that no StorageClass of Ceph has.
var NeverWorks = []string{featureBackup}

// userSpace is the client of images that ends with its pod, and with it every disk.
const userSpace = "rbd-nbd"

// matrix tells for each StorageClass of the driver that CDI has a StorageProfile of:
//
//	feature                    | works when
//	dataDisk                   | the class exists
//	image                      | CDI knows how to claim a disk
//	rootDisk, export, template | disks are cloned, not copied; a root disk from boot images that are encrypted alike
//	liveMigration              | the first way to claim a disk is the driver's, by the kernel
//	snapshot                   | CDI names a snapshot class of the same driver and Ceph cluster
//	backup                     | never: Harvester backs up Longhorn only, KubeVirt leaves it to others
func matrix(f machineFacts) Machines {
	out := Machines{}
	for _, class := range f.classes {
		profile := f.profile(class.Name)
		if class.Provisioner != f.driver.Name || profile == nil {
			continue
		}
		status := below(profile, "status")
		clone := f.clones(status)
		out[class.Name] = map[string]string{
			featureDataDisk:      "",
			featureImage:         image(status),
			featureRootDisk:      f.boots(class, clone),
			featureExport:        clone,
			featureTemplate:      clone,
			featureLiveMigration: f.migrates(class, status),
			featureSnapshot:      f.snapshot(class, status),
			featureBackup:        "not supported for volumes of Ceph by the platform itself",
		}
	}
	return out
}

// profile is the StorageProfile of a class, or nil.
func (f machineFacts) profile(class string) *unstructured.Unstructured {
	i := slices.IndexFunc(f.profiles, func(p *unstructured.Unstructured) bool { return p.GetName() == class })
	if i < 0 {
		return nil
	}
	return f.profiles[i]
}

func image(status values) string {
	if sets, _ := status[claimSetsField].([]any); len(sets) == 0 {
		return "the StorageProfile has no claim property sets"
	}
	return ""
}

func (f machineFacts) clones(status values) string {
	strategy, _ := status[cloneStrategyField].(string)
	where := "the StorageProfile"
	for _, cdi := range f.importers {
		if override, _, _ := unstructured.NestedString(cdi.Object, "spec", "cloneStrategyOverride"); override != "" {
			strategy, where = override, "CDI "+cdi.GetName()
		}
	}
	if strategy != "csi-clone" && strategy != "snapshot" {
		return fmt.Sprintf("disks are copied: the clone strategy of %s is %q", where, strategy)
	}
	return ""
}

// boots says why there is no disk of a boot image, given why none is cloned. CDI restores those that are snapshots
// whatever the strategy.
func (f machineFacts) boots(class *storagev1.StorageClass, clone string) string {
	images := bootImages(f.classes)
	if images == nil || !neverCloned(images, class) {
		return clone
	}
	if profile := f.profile(images.Name); profile != nil && below(profile, "status")[imageFormatField] == "snapshot" {
		return fmt.Sprintf("boot images are snapshots on StorageClass %s, of which ceph-csi makes no disks with another encryption; have volumes of them: "+
			`oc patch storageprofile %s --type=merge -p '{"spec":{"%s":"pvc"}}'`, images.Name, images.Name, imageFormatField)
	}
	if clone == "" {
		return fmt.Sprintf("ceph-csi clones no image of StorageClass %s to a disk with another encryption; have it copied: "+
			"oc annotate --overwrite storageclass %s %s=%s", images.Name, class.Name, chosenStrategy, copyStrategy)
	}
	return clone
}

// bootImages is the class on which CDI imports boot images: the newest that is the default one for virtual machines,
// else for all; nil without.
func bootImages(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	for _, mark := range []string{defaultForMachines, defaultForAll} {
		marked := slices.DeleteFunc(slices.Clone(classes), func(c *storagev1.StorageClass) bool { return c.Annotations[mark] != "true" })
		if len(marked) > 0 {
			return slices.MaxFunc(marked, func(a, b *storagev1.StorageClass) int {
				return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
			})
		}
	}
	return nil
}

func (f machineFacts) migrates(class *storagev1.StorageClass, status values) string {
	first := f.driver.Virtualization.ClaimSets[0]
	switch {
	case !startsWith(status[claimSetsField], first):
		return fmt.Sprintf("the first claim property set of the StorageProfile is not %s %s", first.AccessMode, first.VolumeMode)
	case class.Parameters["mounter"] == userSpace:
		return "disks are mapped in user space, by " + userSpace
	}
	return ""
}

func (f machineFacts) snapshot(class *storagev1.StorageClass, status values) string {
	if !f.snapshotting {
		return "the cluster has no snapshots: their CRDs are missing"
	}
	name, _ := status[snapshotClassField].(string)
	if name == "" {
		return "the StorageProfile names no snapshot class"
	}
	if _, problem := f.snapshotProblem(name, class.Parameters[clusterIDParameter]); problem != "" {
		return problem
	}
	return ""
}
