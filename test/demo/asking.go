package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// commands runs `ceph` and returns what it prints.
type commands interface {
	Command(ctx context.Context, args ...string) ([]byte, error)
}

// askPlace has Ceph confirm where the operator says that volumes go. The answer is empty while
// Ceph has no such place.
func askPlace(ctx context.Context, ceph commands, p state.Placement) (string, error) {
	if p.Filesystem != "" {
		out, err := ceph.Command(ctx, "fs", "subvolumegroup", "ls", p.Filesystem, "--format", "json")
		if err != nil {
			return "", err
		}
		return groupIn(out, p.Filesystem, p.SubvolumeGroup)
	}
	out, err := ceph.Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	if err != nil {
		return "", err
	}
	return poolIn(out, p.Pool)
}

func poolIn(answer []byte, name string) (string, error) {
	var pools []struct {
		Name         string         `json:"pool_name"`
		Size         int            `json:"size"`
		Applications map[string]any `json:"application_metadata"`
	}
	if err := json.Unmarshal(answer, &pools); err != nil {
		return "", fmt.Errorf("answer of 'ceph osd pool ls detail': %w", err)
	}
	for _, p := range pools {
		if p.Name == name && len(p.Applications) > 0 {
			applications := strings.Join(slices.Sorted(maps.Keys(p.Applications)), ", ")
			return fmt.Sprintf("Ceph has pool %s (application %s, size %d)", p.Name, applications, p.Size), nil
		}
	}
	return "", nil
}

func groupIn(answer []byte, filesystem, name string) (string, error) {
	var groups []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(answer, &groups); err != nil {
		return "", fmt.Errorf("answer of 'ceph fs subvolumegroup ls %s': %w", filesystem, err)
	}
	for _, g := range groups {
		if g.Name == name {
			return fmt.Sprintf("Ceph has subvolume group %s in filesystem %s", name, filesystem), nil
		}
	}
	return "", nil
}
