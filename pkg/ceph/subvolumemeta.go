package ceph

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// States of subvolumes that matter; others are those of clones in flight.
const (
	// SubvolumeComplete is that of every finished subvolume.
	SubvolumeComplete = "complete"
	// SubvolumeRetained is that of a removed subvolume which is kept for its snapshots alone.
	SubvolumeRetained = "snapshot-retained"
	// SubvolumeCanceled and SubvolumeFailed are those of clones that nobody works on any more.
	SubvolumeCanceled = "canceled"
	SubvolumeFailed   = "failed"
)

// SubvolumeMeta is the file ".meta" in which the mgr's volumes module (Ceph 15.2 to 20) keeps
// what it knows of a subvolume. Of a retained one it is the only place with its snapshots' tags.
type SubvolumeMeta struct {
	// Version is 2 where snapshots are taken of the folder that the file is in, and 1, before Ceph
	// 15.2.5, where they are taken of Path.
	Version int
	// Type is "subvolume" or "clone".
	Type  string
	State string
	// Path is the folder with the data; empty of a retained one.
	Path string
	// Metadata are the keys that clients left with the subvolume; none of a retained one.
	Metadata map[string]string
	// Snapshots are the keys that clients left with its snapshots, by snapshot; snapshots without
	// keys are missing.
	Snapshots map[string]map[string]string
	// Copying are the snapshots from which clones are being made, in the order of the file.
	Copying []string
}

const (
	metaGlobal    = "GLOBAL"
	metaUser      = "USER_METADATA"
	metaSnapshot  = "SNAP_METADATA_"
	metaSource    = "source"
	metaClones    = "clone snaps"
	metaFailure   = "CLONE_FAILURE"
	maxMeta       = 4 << 20
	supportedMeta = 2
)

// ParseSubvolumeMeta reads the file as Python's configparser writes it: "[section]" and
// "key = value" lines, where a value goes on in lines that start with a tab, and "%" is written
// twice. It refuses whatever it does not understand: owners are read from it.
func ParseSubvolumeMeta(data []byte) (SubvolumeMeta, error) {
	meta := SubvolumeMeta{Metadata: map[string]string{}, Snapshots: map[string]map[string]string{}}
	if len(data) > maxMeta || !utf8.Valid(data) {
		return SubvolumeMeta{}, errors.New("reading the metadata of a subvolume: it is too long, or no UTF-8")
	}
	sections, err := metaSections(string(data))
	if err != nil {
		return SubvolumeMeta{}, fmt.Errorf("reading the metadata of a subvolume: %w", err)
	}
	for _, s := range sections {
		if err := meta.take(s); err != nil {
			return SubvolumeMeta{}, fmt.Errorf("reading the metadata of a subvolume: %w", err)
		}
	}
	if meta.Type == "" || meta.State == "" {
		return SubvolumeMeta{}, errors.New("reading the metadata of a subvolume: it has no type or no state")
	}
	return meta, nil
}

// metaSection is a section with its keys in the order of the file.
type metaSection struct {
	name   string
	keys   []string
	values map[string]string
}

func (m *SubvolumeMeta) take(s *metaSection) error {
	snapshot, ofSnapshot := strings.CutPrefix(s.name, metaSnapshot)
	switch {
	case s.name == metaGlobal:
		version, err := strconv.Atoi(s.values["version"])
		if err != nil || version < 1 || version > supportedMeta {
			return fmt.Errorf("version %s is not known", quote(s.values["version"]))
		}
		m.Version, m.Type, m.State, m.Path = version, s.values["type"], s.values["state"], s.values["path"]
	case s.name == metaUser:
		m.Metadata = s.values
	case ofSnapshot && snapshot != "":
		m.Snapshots[snapshot] = s.values
	case s.name == metaClones:
		for _, key := range s.keys {
			m.Copying = append(m.Copying, s.values[key])
		}
	case s.name == metaSource, s.name == metaFailure:
	default:
		return fmt.Errorf("section %s is not known", quote(s.name))
	}
	return nil
}

func metaSections(text string) ([]*metaSection, error) {
	var sections []*metaSection
	seen := map[string]bool{}
	var current *metaSection
	last := ""
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "["):
			name, closed := strings.CutSuffix(strings.TrimPrefix(line, "["), "]")
			if !closed || name == "" || seen[name] {
				return nil, fmt.Errorf("line %d is no section, or the second of its name", number+1)
			}
			seen[name] = true
			current, last = &metaSection{name: name, values: map[string]string{}}, ""
			sections = append(sections, current)
		case line[0] == '\t' || line[0] == ' ':
			if current == nil || last == "" {
				return nil, fmt.Errorf("line %d continues nothing", number+1)
			}
			more, err := metaValue(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
			current.values[last] += "\n" + more
		default:
			if current == nil {
				return nil, fmt.Errorf("line %d stands in no section", number+1)
			}
			var err error
			if last, err = current.add(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
		}
	}
	return sections, nil
}

// add takes a line "key = value". An empty value is written as "key = ".
func (s *metaSection) add(line string) (string, error) {
	i := strings.IndexAny(line, "=:")
	if i < 0 || line[0] == '#' || line[0] == ';' {
		return "", errors.New(`expected "key = value"`)
	}
	key := strings.TrimSpace(line[:i])
	if _, twice := s.values[key]; twice || key == "" {
		return "", errors.New("a key is empty, or there twice")
	}
	value, err := metaValue(line[i+1:])
	if err != nil {
		return "", err
	}
	s.keys = append(s.keys, key)
	s.values[key] = value
	return key, nil
}

// metaValue takes blanks off, and each second "%": one alone would refer to another key.
func metaValue(text string) (string, error) {
	if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") {
		return "", errors.New(`a value refers to another one with "%"`)
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "%%", "%"), nil
}
