package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// remains is what a session leaves behind when it is killed, and what `down` takes away.
type remains struct {
	PID int `json:"pid"`
	// Link is the network interface of this machine, Cgroups the names of the nodes' cgroups.
	Link    string   `json:"link"`
	Cgroups []string `json:"cgroups"`
}

func nodesFolder(cluster string) string   { return filepath.Join(cluster, "nodes") }
func remainsFile(cluster string) string   { return filepath.Join(nodesFolder(cluster), "remains.json") }
func sessionLock(cluster string) string   { return filepath.Join(nodesFolder(cluster), "lock") }
func logsFolder(cluster string) string    { return filepath.Join(cluster, "logs") }
func nodeFile(cluster, n string) string   { return filepath.Join(nodesFolder(cluster), n, "node.json") }
func nodeFolder(cluster, n string) string { return filepath.Join(nodesFolder(cluster), n) }

func writeJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

func readJSON(file string, value any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, value); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// remove takes away what outlives processes. It may be called more than once.
func (r remains) remove() error {
	var errs []error
	for _, name := range r.Cgroups {
		errs = append(errs, removeCgroups(name))
	}
	return errors.Join(append(errs, detachOrphans())...)
}
