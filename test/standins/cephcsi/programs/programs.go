// Package programs names what the stand-in of ceph-csi runs, for those who pack it into an image.
package programs

// Node are those of the node plugins. Kernel modules and devices are the node's.
var Node = []string{
	"blkid", "blockdev", "dumpe2fs", "env", "flock", "fsck", "fsck.ext4", "fsck.xfs", "losetup", "mkfs.ext4", "mkfs.xfs",
	"modprobe", "mount", "resize2fs", "sh", "umount", "xfs_growfs", "xfs_io", "xfs_repair",
	"ceph-fuse", "fusermount3", "rbd-fuse", "rbd-nbd",
}

// Controller are those of the controllers.
var Controller []string
