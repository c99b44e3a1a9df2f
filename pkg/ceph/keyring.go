package ceph

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Entity is one section of a keyring.
type Entity struct {
	// Name is the entity's full name, such as "client.admin".
	Name string
	// Key is unchecked; ParseKey has not seen it.
	Key Key
	// line where the section starts, for messages.
	line int
}

const adminEntity = "client.admin"

var entityForm = regexp.MustCompile(`^(auth|mon|osd|mds|mgr|client)\.[^\s=+/[:cntrl:]]*$`)

// ParseKeyring reads a keyring as `ceph auth get` prints it. An entity that stands there
// twice is returned once, with the last key.
func ParseKeyring(data []byte) ([]Entity, error) {
	file, err := parseINI(data)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	var entities []Entity
	for _, s := range file.sections {
		if !entityForm.MatchString(s.name) || looksSecret(s.name) {
			return nil, fmt.Errorf("line %d: the section does not name a Ceph user; write [client.admin], "+
				"or whichever user the key belongs to", s.line)
		}
		if _, known := index[s.name]; !known {
			index[s.name] = len(entities)
			entities = append(entities, Entity{Name: s.name, line: s.line})
		}
	}
	for _, s := range file.settings {
		if s.section == "" {
			return nil, fmt.Errorf("line %d: text before the first section; a keyring starts with "+
				"[client.<user>], and the key stands below as \"key = \" and the key", s.line)
		}
		if s.name == "key" {
			entities[index[s.section]].Key = NewKey(s.value)
		}
	}
	return entities, nil
}

// PickUser chooses the user of a keyring: the one with the wanted ID; else the only client,
// else client.admin. The key is checked.
func PickUser(entities []Entity, wanted string) (Credentials, error) {
	var names []string
	byName := map[string]Entity{}
	for _, e := range entities {
		if strings.HasPrefix(e.Name, "client.") {
			names = append(names, e.Name)
			byName[e.Name] = e
		}
	}
	if len(names) == 0 {
		return Credentials{}, errors.New("no [client.<user>] section; `ceph auth get client.<user>` prints a keyring")
	}
	name := adminEntity
	switch {
	case wanted != "":
		name = "client." + wanted
	case len(names) == 1:
		name = names[0]
	}
	entity, found := byName[name]
	if !found && wanted != "" {
		return Credentials{}, fmt.Errorf("no user %s; it has %s", quote(name), strings.Join(names, ", "))
	}
	if !found {
		return Credentials{}, fmt.Errorf("several users (%s) and none of them is client.admin; "+
			"leave only the one to be used", strings.Join(names, ", "))
	}
	key, err := ParseKey(entity.Key.Reveal())
	if err != nil {
		return Credentials{}, fmt.Errorf("section [%s], line %d: %w", entity.Name, entity.line, err)
	}
	return Credentials{UserID: strings.TrimPrefix(entity.Name, "client."), Key: key}, nil
}
