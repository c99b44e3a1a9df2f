package driver

// Virtualization is what a virtualization platform should know of a driver's volumes. The
// names of strategies and formats are those of KubeVirt's containerized data importer, CDI.
type Virtualization struct {
	// ClaimSets are the ways in which a disk can be claimed, the best one first: CDI takes the
	// first unless somebody asks for another.
	ClaimSets []ClaimSet
	// CloneStrategy is how a disk is copied.
	CloneStrategy string
	// ImageFormat is what disk images are kept as, where volumes can be snapshotted; empty
	// leaves it to CDI, which keeps volumes.
	ImageFormat string
	// Class is the StorageClass for virtual machines, beside the default one; empty for none.
	Class string
}

// ClaimSet is an access mode together with a volume mode, as a PersistentVolumeClaim has them.
type ClaimSet struct{ AccessMode, VolumeMode string }

const (
	readWriteMany = "ReadWriteMany"
	readWriteOnce = "ReadWriteOnce"
	block         = "Block"
	files         = "Filesystem"
	// cloneByDriver has the CSI driver clone: Ceph copies on write.
	cloneByDriver = "csi-clone"
	// asSnapshot keeps an image as a snapshot, from which images are cloned faster than from one
	// another.
	asSnapshot = "snapshot"
)

// Live migration needs a disk that two nodes may write: an image as a block device, or a
// directory.
var (
	imagesAsDisks = Virtualization{
		ClaimSets:     []ClaimSet{{readWriteMany, block}, {readWriteOnce, block}, {readWriteOnce, files}},
		CloneStrategy: cloneByDriver,
		ImageFormat:   asSnapshot,
		Class:         "ceph-rbd-virtualization",
	}
	subvolumesAsDisks = Virtualization{
		ClaimSets:     []ClaimSet{{readWriteMany, files}, {readWriteOnce, files}},
		CloneStrategy: cloneByDriver,
	}
)
