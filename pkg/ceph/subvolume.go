package ceph

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Subvolume is what the mgr tells of a CephFS subvolume.
type Subvolume struct {
	// Type is "subvolume" or "clone".
	Type  string
	State string
	// Size is the quota in bytes; 0 where there is none, or where the subvolume is not complete.
	Size int64
	// Created is in UTC; zero where Ceph does not tell, as of retained ones.
	Created time.Time
}

// SubvolumeFolder is what the folder with a subvolume's data tells.
type SubvolumeFolder struct {
	// Size is the quota in bytes; 0 where there is none.
	Size int64
	// Created is in UTC and whole seconds, as the mgr tells it.
	Created time.Time
}

// ParseNames reads the JSON of `ceph fs subvolume ls` and `ceph fs subvolume snapshot ls`.
func ParseNames(data []byte) ([]string, error) { return ParseSubvolumeGroups(data) }

// ParseSubvolumeInfo reads the JSON of `ceph fs subvolume info`.
func ParseSubvolumeInfo(data []byte) (Subvolume, error) {
	var info struct {
		Type    string          `json:"type"`
		State   string          `json:"state"`
		Quota   json.RawMessage `json:"bytes_quota"`
		Created string          `json:"created_at"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return Subvolume{}, fmt.Errorf("reading the description of a subvolume: %w", err)
	}
	if info.Type == "" || info.State == "" {
		return Subvolume{}, errors.New("reading the description of a subvolume: it has no type or no state")
	}
	out := Subvolume{Type: info.Type, State: info.State}
	// Without a limit, it is the text "infinite".
	if size, err := strconv.ParseInt(string(info.Quota), 10, 64); err == nil && size > 0 {
		out.Size = size
	}
	if created, err := time.Parse(time.DateTime, info.Created); err == nil {
		out.Created = created
	}
	return out, nil
}

// ParsePendingClones reads the JSON of `ceph fs subvolume snapshot info`: whether clones are
// being made of the snapshot.
func ParsePendingClones(data []byte) (bool, error) {
	var info struct {
		Pending string `json:"has_pending_clones"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return false, fmt.Errorf("reading the description of a snapshot: %w", err)
	}
	switch info.Pending {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return false, fmt.Errorf("reading the description of a snapshot: has_pending_clones is %s", quote(info.Pending))
}
