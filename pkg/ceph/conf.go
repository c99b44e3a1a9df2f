package ceph

import (
	"errors"
	"fmt"
	"strings"
)

// Conf is what a client needs of a ceph.conf.
type Conf struct {
	// FSID as it stands there, unchecked; empty when there is none.
	FSID string
	// MonHost is the text of mon_host, or the "mon addr" of the [mon.x] sections joined by
	// commas. ParseMonHost reads it.
	MonHost string
}

// ParseConf reads a ceph.conf as Ceph's own clients do, and more leniently where Ceph
// fails for the file's encoding. All other settings are ignored.
func ParseConf(data []byte) (Conf, error) {
	file, err := parseINI(data)
	if err != nil {
		return Conf{}, err
	}
	var conf Conf
	var monAddrs []string
	fsidRank, hostRank := 0, 0
	for _, s := range file.settings {
		rank := clientRank(s.section)
		switch {
		case s.name == "fsid" && rank > 0 && rank >= fsidRank:
			conf.FSID, fsidRank = s.value, rank
		case s.name == "mon_host" && rank > 0 && rank >= hostRank:
			conf.MonHost, hostRank = s.value, rank
		case s.name == "mon_addr" && strings.HasPrefix(s.section, "mon."):
			monAddrs = append(monAddrs, s.value)
		}
	}
	if conf.MonHost == "" {
		conf.MonHost = strings.Join(monAddrs, ",")
	}
	if conf.MonHost == "" {
		return Conf{}, fmt.Errorf("no mon_host in section [global]%s; add \"mon_host = \" with the "+
			"addresses of all mons (`ceph config generate-minimal-conf` prints such a file)", nearMiss(file))
	}
	return conf, nil
}

// clientRank orders the sections that a client reads; a higher one wins, 0 is not read.
func clientRank(section string) int {
	switch {
	case section == "" || section == "global":
		return 1
	case section == "client":
		return 2
	case strings.HasPrefix(section, "client."):
		return 3
	}
	return 0
}

// nearMiss finds what an administrator may have meant as mon_host.
func nearMiss(file ini) string {
	for _, s := range file.settings {
		spelling := strings.ReplaceAll(strings.ToLower(s.name), "-", "_")
		switch {
		case s.name == "mon_host" && clientRank(s.section) == 0:
			return fmt.Sprintf(" (line %d has it in a section that clients do not read)", s.line)
		case s.name == "mon_host":
			return fmt.Sprintf(" (line %d has it without a value)", s.line)
		case spelling == "mon_host":
			return fmt.Sprintf(" (Ceph does not know the spelling in line %d)", s.line)
		case s.name == "public_addr" && strings.HasPrefix(s.section, "mon."):
			return fmt.Sprintf(" (clients do not read \"public addr\", line %d)", s.line)
		case s.name == "key" && strings.HasPrefix(s.section, "client."):
			return fmt.Sprintf(" (line %d has a key: is this the keyring?)", s.line)
		}
	}
	return ""
}

var errNoFSID = errors.New("is not a Ceph cluster ID; `ceph fsid` prints it, " +
	"such as 4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11")

// parseFSID checks a declared Ceph cluster ID and puts it into lower case; "" stays.
func parseFSID(text string) (string, error) {
	fsid := strings.ToLower(strings.TrimSpace(text))
	if fsid != "" && !IsFSID(fsid) {
		return "", fmt.Errorf("fsid %s %w", quote(text), errNoFSID)
	}
	return fsid, nil
}
