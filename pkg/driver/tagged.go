package driver

import (
	"context"
	"errors"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Catalog lists what a Ceph cluster has of volumes, whoever made them.
type Catalog interface {
	// ImageNamespaces are the RADOS namespaces of a pool that images can be in, the pool's own, "", first.
	ImageNamespaces(ctx context.Context, pool string) ([]string, error)
	Images(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDImage, error)
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
	// Subvolumes are those of a group, "" for those without one; retained ones, too.
	Subvolumes(ctx context.Context, filesystem, group string) ([]string, error)
	SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error)
}

// Tagged is a place with volumes or snapshots that have the tag of an OpenShift cluster, whatever its
// API server knows of them.
type Tagged struct {
	Used
	// Example is one of them, as a message names it.
	Example string
}

// Estate finds what is tagged.
type Estate interface {
	// Tagged looks into pools with these IDs, and the filesystems that they belong to. What cannot be
	// read yet, such as a clone that is being made, may be of that OpenShift cluster.
	Tagged(ctx context.Context, catalog Catalog, has Inventory, infraID string, pools []int64) ([]Tagged, error)
}

// Tagged reads the headers of images, which nobody notices. Snapshots are images, and so is what is in
// the trash.
func (images) Tagged(ctx context.Context, catalog Catalog, has Inventory, infraID string, pools []int64) ([]Tagged, error) {
	var out []Tagged
	for _, p := range has.Pools {
		if !slices.Contains(pools, p.ID) || p.ErasureCoded {
			continue
		}
		namespaces, err := catalog.ImageNamespaces(ctx, p.Name)
		if err != nil {
			return nil, err
		}
		for _, namespace := range namespaces {
			all, err := catalog.Images(ctx, p, namespace)
			if err != nil {
				return nil, err
			}
			out = append(out, taggedImages(has, p, namespace, all, infraID)...)
		}
	}
	return out, nil
}

// taggedImages has one place for each data pool.
func taggedImages(has Inventory, p ceph.Pool, namespace string, all []ceph.RBDImage, infraID string) []Tagged {
	var out []Tagged
	seen := map[int64]bool{}
	for _, image := range all {
		if image.Metadata[ceph.TagCluster] != infraID || seen[image.DataPool] {
			continue
		}
		seen[image.DataPool] = true
		place := ceph.Placement{Pool: p.Name}
		if i := slices.IndexFunc(has.Pools, func(p ceph.Pool) bool { return p.ID == image.DataPool }); i >= 0 {
			place.DataPool = has.Pools[i].Name
		}
		at := ceph.ImagePlace{Pool: p.Name, Namespace: namespace, Name: image.Name}
		out = append(out, Tagged{Used{Placement: place, Namespace: namespace}, "image " + at.String()})
	}
	return out
}

// metadataAtOnce is how many subvolumes the mgr is asked for over one connection: the first of them
// that is tagged ends the search in its group.
const metadataAtOnce = 32

// Tagged asks the mgr for the metadata of one subvolume after the other.
func (subvolumes) Tagged(ctx context.Context, catalog Catalog, has Inventory, infraID string, pools []int64) ([]Tagged, error) {
	var out []Tagged
	for _, f := range has.FileSystems {
		if !slices.ContainsFunc(append([]int64{f.MetadataPool}, f.DataPools...), func(id int64) bool { return slices.Contains(pools, id) }) {
			continue
		}
		groups, err := catalog.SubvolumeGroups(ctx, f.Name)
		if err != nil {
			return nil, err
		}
		for _, group := range append([]string{""}, groups...) {
			example, err := taggedIn(ctx, catalog, f.Name, group, infraID)
			if err != nil {
				return nil, err
			}
			if example != "" {
				out = append(out, Tagged{Used{
					Placement: ceph.Placement{Filesystem: f.Name, SubvolumeGroup: group}, Directories: directoriesOf(group),
				}, example})
			}
		}
	}
	return out, nil
}

func directoriesOf(group string) []string {
	if group == "" {
		return []string{groupsDirectory + ungrouped}
	}
	return []string{groupsDirectory + group}
}

// taggedIn names a subvolume of the group that is tagged, or may be; empty for none.
func taggedIn(ctx context.Context, catalog Catalog, filesystem, group, infraID string) (string, error) {
	names, err := catalog.Subvolumes(ctx, filesystem, group)
	if err != nil {
		return "", err
	}
	for chunk := range slices.Chunk(names, metadataAtOnce) {
		var places []ceph.SubvolumePlace
		for _, name := range chunk {
			places = append(places, ceph.SubvolumePlace{Filesystem: filesystem, Group: group, Name: name})
		}
		found, err := catalog.SubvolumeMetadata(ctx, filesystem, places)
		if err != nil {
			return "", err
		}
		for i, at := range places {
			ours, err := mayBe(found[i], infraID)
			if err != nil {
				return "", err
			}
			if ours {
				return "subvolume " + at.String(), nil
			}
		}
	}
	return "", nil
}

// mayBe says that a subvolume is of the OpenShift cluster, or that nobody can tell: the mgr reads no
// metadata of one of which only snapshots are left.
func mayBe(found ceph.SubvolumeMetadata, infraID string) (bool, error) {
	switch {
	case found.Err == nil:
		return ceph.Owner(found.Values) == infraID, nil
	case errors.Is(found.Err, ceph.ErrNotReady), errors.Is(found.Err, ceph.ErrRetained):
		return true, nil
	case errors.Is(found.Err, ceph.ErrNotFound):
		return false, nil // It was removed meanwhile.
	}
	return false, found.Err
}
