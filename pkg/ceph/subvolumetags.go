package ceph

import (
	"encoding/json"
	"fmt"
)

// SubvolumePlace names a subvolume, or one of its snapshots where that is asked for.
type SubvolumePlace struct {
	Filesystem string
	// Group is empty for subvolumes without a group.
	Group string
	Name  string
	// Snapshot is one of the subvolume; empty for the subvolume itself.
	Snapshot string
}

// At names a snapshot of the subvolume.
func (p SubvolumePlace) At(snapshot string) SubvolumePlace {
	p.Snapshot = snapshot
	return p
}

// String is filesystem/group/name, of a snapshot with "@" and its name behind it.
func (p SubvolumePlace) String() string {
	name := p.Name
	if p.Snapshot != "" {
		name += "@" + p.Snapshot
	}
	if p.Group == "" {
		return p.Filesystem + "/" + name
	}
	return p.Filesystem + "/" + p.Group + "/" + name
}

// ParseSubvolumeMetadata reads the JSON of `ceph fs subvolume metadata ls` and `ceph fs
// subvolume snapshot metadata ls`.
func ParseSubvolumeMetadata(data []byte) (map[string]string, error) {
	keys := map[string]string{}
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("reading the metadata of a subvolume: %w", err)
	}
	return keys, nil
}
