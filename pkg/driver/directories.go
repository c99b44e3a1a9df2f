package driver

import (
	"cmp"
	"path"
	"strings"
)

// Attributes of volumes in a filesystem: ceph-csi's own, and those of volumes that an
// administrator made.
const (
	SubvolumePathAttribute = "subvolumePath"
	RootPathAttribute      = "rootPath"
)

const groupsDirectory = "/volumes/"

// Directory is what of its filesystem a node mounts for a volume with these attributes: that
// of its subvolume group, or the one that an administrator named. It is empty for images.
func Directory(attributes map[string]string) string {
	whole := cmp.Or(attributes[SubvolumePathAttribute], attributes[RootPathAttribute])
	if whole == "" {
		return ""
	}
	whole = path.Clean("/" + whole)
	rest, inGroup := strings.CutPrefix(whole, groupsDirectory)
	if !inGroup {
		return whole
	}
	group, _, _ := strings.Cut(rest, "/")
	return groupsDirectory + group
}

// GroupDirectory is that of a subvolume group; an empty one stands for that which ceph-csi uses.
func GroupDirectory(group string) string {
	return groupsDirectory + cmp.Or(group, DefaultSubvolumeGroup)
}
