package ceph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// ImagePlace names an RBD image.
type ImagePlace struct {
	Pool string
	// Namespace is the RADOS namespace; empty for the pool's own.
	Namespace string
	Name      string
}

// String is pool/namespace/name, as `rbd` takes it.
func (p ImagePlace) String() string {
	if p.Namespace == "" {
		return p.Pool + "/" + p.Name
	}
	return p.Pool + "/" + p.Namespace + "/" + p.Name
}

// ImageMetadata is what clients left with an RBD image, such as its tags.
type ImageMetadata struct {
	Values map[string]string
	// ID of the image. It stays when the image is renamed or moved to the trash.
	ID string
	// Version of the image's header: it grows with every change of the header and of nothing else.
	Version uint64
}

// SubvolumeMetadata is what clients left with a CephFS subvolume, or a snapshot of one.
type SubvolumeMetadata struct {
	Values map[string]string
	// Err is why Values is not known; ErrNotFound where there is no such subvolume.
	Err error
}

// MetadataChange is what is to become of the metadata of an image or a subvolume.
type MetadataChange struct {
	Set map[string]string
	// Remove are keys that may be missing already.
	Remove []string
}

// SubvolumeChange is what is to become of the metadata of one subvolume or snapshot.
type SubvolumeChange struct {
	At SubvolumePlace
	// Was is the metadata as it was read.
	Was map[string]string
	MetadataChange
}

// Empty says that there is nothing to do.
func (c MetadataChange) Empty() bool { return len(c.Set) == 0 && len(c.Remove) == 0 }

// Ordered are the keys of Set in the order in which they are written where Ceph takes one after
// the other: the tags of the cluster come last, so that whoever finds them finds the others, too.
func (c MetadataChange) Ordered() []string {
	return slices.SortedFunc(maps.Keys(c.Set), func(a, b string) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), strings.Compare(a, b))
	})
}

func last(key string) int {
	if key == TagCluster || key == TagOwner {
		return 1
	}
	return 0
}
