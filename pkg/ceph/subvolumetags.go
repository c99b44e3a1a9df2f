package ceph

import (
	"encoding/json"
	"fmt"
)

// SubvolumePlace names a subvolume.
type SubvolumePlace struct {
	Filesystem string
	// Group is empty for subvolumes without a group.
	Group string
	Name  string
}

// String is filesystem/group/name.
func (p SubvolumePlace) String() string {
	if p.Group == "" {
		return p.Filesystem + "/" + p.Name
	}
	return p.Filesystem + "/" + p.Group + "/" + p.Name
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
