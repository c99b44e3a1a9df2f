package ceph

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Versions are the releases of the running daemons: by kind of daemon ("mon", "osd", …) and
// release ("16.2.15") the number of daemons.
type Versions map[string]map[string]int

// Releases are all that run, sorted as text.
func (v Versions) Releases() []string {
	all := map[string]bool{}
	for _, releases := range v {
		for release := range releases {
			all[release] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Oldest is the oldest release of a known form; empty without one.
func (v Versions) Oldest() string {
	oldest, least := "", [3]int{}
	for _, release := range v.Releases() {
		var number [3]int
		if _, err := fmt.Sscanf(release, "%d.%d.%d", &number[0], &number[1], &number[2]); err != nil {
			continue
		}
		if oldest == "" || slices.Compare(number[:], least[:]) < 0 {
			oldest, least = release, number
		}
	}
	return oldest
}

// UnknownRelease is what Ceph tells instead of the release of daemons that have not sent theirs yet (count_metadata,
// src/mon/Monitor.cc).
const UnknownRelease = "unknown"

// ParseVersions reads the JSON of `ceph versions`.
func ParseVersions(data []byte) (Versions, error) {
	var reply map[string]map[string]int
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("reading the versions of Ceph's daemons: %w", err)
	}
	versions := Versions{}
	for kind, texts := range reply {
		if kind == "overall" || len(texts) == 0 {
			continue
		}
		versions[kind] = map[string]int{}
		for text, count := range texts {
			release, err := releaseOf(text)
			if text == UnknownRelease {
				release, err = UnknownRelease, nil
			}
			if err != nil {
				return nil, err
			}
			versions[kind][release] += count
		}
	}
	return versions, nil
}

// releaseOf cuts the number out of "ceph version 16.2.15 (…) pacific (stable)".
func releaseOf(text string) (string, error) {
	words := strings.Fields(text)
	if len(words) < 3 || words[0] != "ceph" || words[1] != "version" {
		return "", fmt.Errorf("version of Ceph %q is not of the form \"ceph version 16.2.15 …\"", text)
	}
	return words[2], nil
}

// Clock is how far the clock of a mon is from the leader's, as the leader measured it.
type Clock struct {
	Mon string
	// Skew in seconds.
	Skew float64
	// OK is the mons' own judgement.
	OK bool
}

// ParseClocks reads the JSON of `ceph time-sync-status`, sorted by mon. A single mon compares
// with nobody, and mons out of quorum are missing.
func ParseClocks(data []byte) ([]Clock, error) {
	var reply struct {
		Mons map[string]struct {
			Skew   float64 `json:"skew"`
			Health string  `json:"health"`
		} `json:"time_skew_status"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("reading the mons' clocks: %w", err)
	}
	var clocks []Clock
	for _, mon := range slices.Sorted(maps.Keys(reply.Mons)) {
		status := reply.Mons[mon]
		clocks = append(clocks, Clock{Mon: mon, Skew: status.Skew, OK: status.Health == "HEALTH_OK"})
	}
	return clocks, nil
}

// ParseQuorum reads the JSON of `ceph quorum_status`: the names of the mons in quorum, sorted.
func ParseQuorum(data []byte) ([]string, error) {
	var reply struct {
		Names []string `json:"quorum_names"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("reading the quorum: %w", err)
	}
	if len(reply.Names) == 0 {
		return nil, errors.New("reading the quorum: Ceph names no mon")
	}
	slices.Sort(reply.Names)
	return reply.Names, nil
}

// ParseAllActive reads the JSON of `ceph status`: whether all placement groups answer, as far as the mgr
// has told the mons. While an administrator has paused them, they do not; paused names the flags, such as
// "pauserd,pausewr".
func ParseAllActive(data []byte) (active bool, paused string, err error) {
	var reply struct {
		Health struct {
			Checks map[string]struct {
				Summary struct {
					Message string `json:"message"`
				} `json:"summary"`
			} `json:"checks"`
		} `json:"health"`
		Managers struct {
			Available bool `json:"available"`
		} `json:"mgrmap"`
		Groups struct {
			States []struct {
				Name string `json:"state_name"`
			} `json:"pgs_by_state"`
		} `json:"pgmap"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return false, "", fmt.Errorf("reading the status of Ceph: %w", err)
	}
	flags, _, _ := strings.Cut(reply.Health.Checks["OSDMAP_FLAGS"].Summary.Message, " ")
	paused = strings.Join(slices.DeleteFunc(strings.Split(flags, ","), func(f string) bool { return !strings.HasPrefix(f, "pause") }), ",")
	if paused != "" {
		return false, paused, nil
	}
	for _, state := range reply.Groups.States {
		words := strings.Split(state.Name, "+")
		if !slices.Contains(words, "active") || slices.Contains(words, "laggy") || slices.Contains(words, "wait") {
			return false, "", nil
		}
	}
	return reply.Managers.Available && len(reply.Groups.States) > 0, "", nil
}

// FilesystemPools are the pools of a CephFS filesystem.
type FilesystemPools struct {
	Filesystem string
	Metadata   string
	Data       []string
}

// ParseFilesystemPools reads the JSON of `ceph fs ls`.
func ParseFilesystemPools(data []byte) ([]FilesystemPools, error) {
	var reply []struct {
		Name     string   `json:"name"`
		Metadata string   `json:"metadata_pool"`
		Data     []string `json:"data_pools"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("reading the pools of filesystems: %w", err)
	}
	var pools []FilesystemPools
	for _, fs := range reply {
		pools = append(pools, FilesystemPools{Filesystem: fs.Name, Metadata: fs.Metadata, Data: fs.Data})
	}
	return pools, nil
}

// What a mon says first on a new connection.
const (
	bannerV1 = "ceph v027"
	bannerV2 = "ceph v2\n"
)

// BannerLength is enough of what a mon says first to know its protocol.
const BannerLength = len(bannerV2)

// ParseBanner tells the protocol of a mon by what it says first on a new connection.
func ParseBanner(data []byte) (Protocol, error) {
	text := string(data)
	switch {
	case strings.HasPrefix(text, bannerV2):
		return V2, nil
	case len(text) >= BannerLength && strings.HasPrefix(bannerV1, text[:BannerLength]):
		return V1, nil
	}
	return "", fmt.Errorf("no mon: it says %s", quote(text))
}
