package ceph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ParsePools reads the JSON of `ceph osd pool ls detail`.
func ParsePools(data []byte) ([]Pool, error) {
	const erasure = 3
	var list []struct {
		ID           int64                        `json:"pool_id"`
		Name         string                       `json:"pool_name"`
		Type         int                          `json:"type"`
		Flags        string                       `json:"flags_names"`
		Applications map[string]map[string]string `json:"application_metadata"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the list of pools: %w", err)
	}
	var pools []Pool
	for _, p := range list {
		flags := strings.Split(p.Flags, ",")
		pools = append(pools, Pool{
			ID:           p.ID,
			Name:         p.Name,
			Applications: slices.Sorted(maps.Keys(p.Applications)),
			ErasureCoded: p.Type == erasure,
			Overwrites:   slices.Contains(flags, "ec_overwrites"),
			NoDelete:     slices.Contains(flags, "nodelete"),
			Full:         slices.Contains(flags, "full"),
			Metadata:     metadata(p.Applications),
		})
	}
	return pools, nil
}

// metadata leaves out applications without keys.
func metadata(applications map[string]map[string]string) map[string]map[string]string {
	var out map[string]map[string]string
	for application, keys := range applications {
		if len(keys) == 0 {
			continue
		}
		if out == nil {
			out = map[string]map[string]string{}
		}
		out[application] = keys
	}
	return out
}

// ParseFileSystems reads the JSON of `ceph fs dump`.
func ParseFileSystems(data []byte) ([]FileSystem, error) {
	var dump struct {
		Default     int64 `json:"default_fscid"`
		FileSystems []struct {
			ID     int64 `json:"id"`
			MDSMap struct {
				Name         string           `json:"fs_name"`
				MetadataPool int64            `json:"metadata_pool"`
				DataPools    []int64          `json:"data_pools"`
				In           []int            `json:"in"`
				Up           map[string]int64 `json:"up"`
				Info         map[string]struct {
					State string `json:"state"`
				} `json:"info"`
			} `json:"mdsmap"`
		} `json:"filesystems"`
	}
	if err := json.Unmarshal(data, &dump); err != nil {
		return nil, fmt.Errorf("reading the list of filesystems: %w", err)
	}
	var filesystems []FileSystem
	for _, f := range dump.FileSystems {
		fs := FileSystem{
			ID: f.ID, Name: f.MDSMap.Name, Default: f.ID == dump.Default,
			MetadataPool: f.MDSMap.MetadataPool, DataPools: f.MDSMap.DataPools,
		}
		fs.Active = len(f.MDSMap.In) > 0
		for _, rank := range slices.Sorted(slices.Values(f.MDSMap.In)) {
			mds := f.MDSMap.Up[fmt.Sprintf("mds_%d", rank)]
			fs.Ranks = append(fs.Ranks, Rank{rank, mds})
			state := f.MDSMap.Info[fmt.Sprintf("gid_%d", mds)].State
			fs.Active = fs.Active && (state == "up:active" || rank > 0 && state == "up:stopping")
		}
		filesystems = append(filesystems, fs)
	}
	return filesystems, nil
}

// ParseSubvolumeGroups reads the JSON of `ceph fs subvolumegroup ls`: the groups' names.
func ParseSubvolumeGroups(data []byte) ([]string, error) {
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the list of subvolume groups: %w", err)
	}
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names, nil
}

// ParseVersion reads the JSON of `ceph version`: the number alone, such as "16.2.15".
func ParseVersion(data []byte) (string, error) {
	var reply struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return "", fmt.Errorf("reading the version of Ceph: %w", err)
	}
	return releaseOf(reply.Version)
}

// CheckPoolName refuses names that Ceph would take but that tools and StorageClasses
// choke on.
func CheckPoolName(name string) error { return checkName("pool name", name) }

// CheckNamespace says likewise what a RADOS namespace may be called.
func CheckNamespace(name string) error { return checkName("RADOS namespace", name) }

func checkName(what, name string) error {
	allowed := func(r rune) bool {
		return isDigit(r) || isUpper(r) || isLower(r) || strings.ContainsRune("-_.", r)
	}
	if name == "" || len(name) > 128 || strings.HasPrefix(name, ".") ||
		strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return fmt.Errorf("%s %s is refused: at most 128 letters, digits, '-', '_' and '.', "+
			"not starting with '.'", what, quote(name))
	}
	return nil
}
