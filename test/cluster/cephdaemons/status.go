package cephdaemons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Each look costs a third of a second of a core.
const pollEvery = 500 * time.Millisecond

// status is what is read of `ceph status`.
type status struct {
	QuorumNames []string `json:"quorum_names"`
	OSDMap      struct {
		Up int `json:"num_up_osds"`
	} `json:"osdmap"`
	MgrMap struct {
		Available bool `json:"available"`
	} `json:"mgrmap"`
	FSMap struct {
		ByRank []struct {
			Status string `json:"status"`
		} `json:"by_rank"`
	} `json:"fsmap"`
}

func (c *Ceph) status(ctx context.Context) (status, error) {
	var s status
	out, err := c.Command(ctx, "status", "--format", "json")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("answer of `ceph status`: %w", err)
	}
	return s, nil
}

// waitReady waits until everything serves.
func (c *Ceph) waitReady(ctx context.Context) error {
	return c.waitFor(ctx, "an active mgr, an OSD and all mons", func(s status) bool {
		return s.MgrMap.Available && s.OSDMap.Up > 0 && len(s.QuorumNames) == len(c.Mons()) && (c.options.WithoutFilesystem || s.activeMDS())
	})
}

func (s status) activeMDS() bool {
	return len(s.FSMap.ByRank) > 0 && s.FSMap.ByRank[0].Status == "up:active"
}

func (s status) hasMon(name string) bool { return slices.Contains(s.QuorumNames, name) }

// waitFor polls the status. It gives up when a daemon ends by itself.
func (c *Ceph) waitFor(ctx context.Context, what string, reached func(status) bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		s, err := c.status(ctx)
		if err == nil && reached(s) {
			return nil
		}
		if ended := c.ended(); ended != nil {
			return ended
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Ceph does not reach %s: %w; last status: %+v", what, errors.Join(ctx.Err(), err), s)
		case <-time.After(pollEvery):
		}
	}
}

// Command runs `ceph` as the administrator and returns its stdout. A secret in the arguments would
// be visible to everyone on the machine: pass such things in files.
func (c *Ceph) Command(ctx context.Context, arguments ...string) ([]byte, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	if answer, err := c.interpret(ctx, interpretTimeout, arguments); !errors.Is(err, errUnanswered) {
		return answer, err
	}
	return c.tool(ctx, "ceph", append([]string{"--connect-timeout", "30"}, arguments...))
}

// RBD runs `rbd` as the administrator and returns its stdout.
func (c *Ceph) RBD(ctx context.Context, arguments ...string) ([]byte, error) {
	return c.tool(ctx, "rbd", arguments)
}

// RADOS runs `rados` as the administrator and returns its stdout.
func (c *Ceph) RADOS(ctx context.Context, arguments ...string) ([]byte, error) {
	return c.tool(ctx, "rados", arguments)
}

// RADOSProcess is `rados` as the administrator, not started yet: for what goes on until it is ended.
func (c *Ceph) RADOSProcess(ctx context.Context, arguments ...string) (*exec.Cmd, error) {
	path, err := c.programs.Path("rados")
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, path, append(c.administrator(), arguments...)...), nil
}

func (c *Ceph) administrator() []string {
	return []string{"--conf", c.ConfFile(), "--keyring", c.KeyringFile()}
}

// commandTimeout ends a command that hangs, as all do when no mon or no MDS answers.
const commandTimeout = 2 * time.Minute

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, commandTimeout, fmt.Errorf("it hung: killed after %s", commandTimeout))
}

func (c *Ceph) tool(ctx context.Context, program string, arguments []string) ([]byte, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	return c.run(ctx, program, append(c.administrator(), arguments...)...)
}

// CreatePool makes a pool with the cluster's defaults for an application such as "rbd".
func (c *Ceph) CreatePool(ctx context.Context, name, application string) error {
	if _, err := c.Command(ctx, "osd", "pool", "create", name); err != nil {
		return err
	}
	_, err := c.Command(ctx, "osd", "pool", "application", "enable", name, application)
	return err
}

// CreateFilesystem makes a filesystem with pools of its own, <name>-metadata and <name>-data.
// It does not wait for an MDS.
func (c *Ceph) CreateFilesystem(ctx context.Context, name string) error {
	metadata, data := name+"-metadata", name+"-data"
	for _, pool := range []string{metadata, data} {
		if _, err := c.Command(ctx, "osd", "pool", "create", pool); err != nil {
			return err
		}
	}
	if _, err := c.Command(ctx, "fs", "new", name, metadata, data); err != nil {
		return fmt.Errorf("filesystem %s: %w", name, err)
	}
	return nil
}

// WaitFilesystem waits until a filesystem is active.
func (c *Ceph) WaitFilesystem(ctx context.Context) error {
	return c.waitFor(ctx, "an active filesystem", status.activeMDS)
}

func (s status) String() string {
	return fmt.Sprintf("quorum %s, %d OSDs, mgr %t, mds %v", strings.Join(s.QuorumNames, ","), s.OSDMap.Up, s.MgrMap.Available, s.FSMap.ByRank)
}
