package ceph

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Keys of the omaps of RBD: src/cls/rbd/cls_rbd.cc writes them.
const (
	// ImageKeyName and ImageKeyID start keys of directories of images, groups and namespaces, and,
	// ImageKeyID alone, of the trash.
	ImageKeyName = "name_"
	ImageKeyID   = "id_"

	keyMetadata     = "metadata_"
	keySnapshot     = "snapshot_"
	keySnapChildren = "snap_children_"
)

// ParseEncodedString reads a string of Ceph's encoding, such as the ID in a directory.
func ParseEncodedString(value []byte) (string, error) {
	d := &decoder{data: value}
	return d.string(), d.err
}

// ParseTrashEntry reads a value of the omap of rbd_trash.
func ParseTrashEntry(value []byte) (TrashEntry, error) {
	const sourceRemoving = 3
	d := &decoder{data: value}
	version, _, in := d.structure()
	entry := TrashEntry{Removing: in.uint8() == sourceRemoving, Name: in.string()}
	in.time() // of the deletion
	in.time() // until when it is kept
	if version >= 2 {
		entry.State = TrashState(in.uint8())
	}
	d.after(in)
	return entry, d.err
}

// ParseGroupSnapshot reads the name out of a value of a group's header.
func ParseGroupSnapshot(value []byte) (name string, err error) {
	d := &decoder{data: value}
	_, _, in := d.structure()
	in.string() // the ID
	name = in.string()
	d.after(in)
	return name, d.err
}

// AddHeader reads the omap of an image's header into the image.
func (i *RBDImage) AddHeader(omap map[string][]byte) error {
	i.Header = true
	children := map[uint64][]ImageRef{}
	for _, key := range slices.Sorted(maps.Keys(omap)) {
		d := &decoder{data: omap[key]}
		name, isMetadata := strings.CutPrefix(key, keyMetadata)
		switch {
		case isMetadata:
			if i.Metadata == nil {
				i.Metadata = map[string]string{}
			}
			i.Metadata[name] = string(omap[key])
		case strings.HasPrefix(key, keySnapshot):
			i.Snapshots = append(i.Snapshots, d.snapshot())
		case strings.HasPrefix(key, keySnapChildren):
			id, err := strconv.ParseUint(strings.TrimPrefix(key, keySnapChildren), 16, 64)
			if err != nil {
				return fmt.Errorf("key %s: %w", quote(key), err)
			}
			children[id] = d.children()
		default:
			i.addValue(key, d)
		}
		if d.err != nil {
			return fmt.Errorf("key %s: %w", quote(key), d.err)
		}
	}
	for n := range i.Snapshots {
		i.Snapshots[n].Children = children[i.Snapshots[n].ID]
	}
	return nil
}

func (i *RBDImage) addValue(key string, d *decoder) {
	switch key {
	case "size":
		i.Size = d.uint64()
	case "order":
		i.Order = d.uint8()
	case "features":
		i.Features = d.uint64()
	case "data_pool_id":
		i.DataPool = int64(d.uint64())
	case "create_timestamp":
		i.Created = d.time()
	case "parent":
		i.Parent = d.parent()
	case "rbd_group_ref":
		_, _, in := d.structure()
		group := GroupRef{PoolID: int64(in.uint64()), ID: in.string()}
		d.after(in)
		// A reference is emptied before it goes.
		if group.ID != "" {
			i.Group = &group
		}
	}
}

// parent reads cls_rbd_parent; nil is one that was taken away.
func (d *decoder) parent() *ImageParent {
	version, _, in := d.structure()
	parent := ImageParent{ImageRef: ImageRef{PoolID: int64(in.uint64())}}
	if version >= 2 {
		parent.Namespace = in.string()
	}
	parent.ID, parent.SnapID = in.string(), in.uint64()
	d.after(in)
	if parent.PoolID < 0 || parent.ID == "" {
		return nil
	}
	return &parent
}

// snapshot reads cls_rbd_snap. Snapshots that Ceph before Nautilus wrote have the parent in
// the middle.
func (d *decoder) snapshot() ImageSnapshot {
	version, compatible, in := d.structure()
	s := ImageSnapshot{ID: in.uint64(), Name: in.string()}
	in.uint64() // the size
	if compatible < 8 {
		in.uint64() // features
		if version >= 2 {
			in.parent()
		}
	}
	if version >= 3 {
		s.Protected = in.uint8() != 0
	}
	if version >= 4 {
		in.uint64() // flags
	}
	if version >= 5 {
		_, _, kind := in.structure()
		s.Kind = SnapshotKind(kind.uint32())
		in.after(kind)
	}
	d.after(in)
	return s
}

// children reads a set of cls::rbd::ChildImageSpec.
func (d *decoder) children() []ImageRef {
	var out []ImageRef
	for n := d.uint32(); n > 0 && d.err == nil; n-- {
		version, _, in := d.structure()
		ref := ImageRef{PoolID: int64(in.uint64()), ID: in.string()}
		if version >= 2 {
			ref.Namespace = in.string()
		}
		d.after(in)
		out = append(out, ref)
	}
	return out
}
