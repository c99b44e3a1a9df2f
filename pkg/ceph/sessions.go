package ceph

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Session is a client that is connected to a mon.
type Session struct {
	// Entity is the client's user, such as "client.admin"; daemons are clients, too.
	Entity string
	// Host is the client's host name, as it said; often empty.
	Host string
}

// ParseSessions reads the JSON of `ceph tell mon.<name> sessions`. Mons among each other have no
// user, and are left out.
func ParseSessions(data []byte) ([]Session, error) {
	var list []struct {
		Entity *string `json:"entity_name"`
		Host   string  `json:"remote_host"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the clients of a mon: %w", err)
	}
	var sessions []Session
	for _, s := range list {
		if s.Entity == nil {
			return nil, errors.New("reading the clients of a mon: one has no entity_name")
		}
		if *s.Entity != "" {
			sessions = append(sessions, Session{Entity: *s.Entity, Host: s.Host})
		}
	}
	return sessions, nil
}

// FileClient is a client that has a filesystem mounted.
type FileClient struct {
	// Entity is its user, such as "client.admin"; the mgr is a client, too ("client.x").
	Entity string
	// Root is the directory that it mounted: "/", or that of a volume.
	Root string
	// Host is the client's host name, as it said.
	Host string
}

// ParseFileClients reads the JSON of `ceph tell mds.<filesystem>:<rank> session ls`.
func ParseFileClients(data []byte) ([]FileClient, error) {
	var list []struct {
		Metadata struct {
			ID   string `json:"entity_id"`
			Host string `json:"hostname"`
			Root string `json:"root"`
		} `json:"client_metadata"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the clients of a filesystem: %w", err)
	}
	var clients []FileClient
	for _, c := range list {
		clients = append(clients, FileClient{Entity: clientPrefix + c.Metadata.ID, Root: c.Metadata.Root, Host: c.Metadata.Host})
	}
	return clients, nil
}
