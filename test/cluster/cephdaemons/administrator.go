package cephdaemons

import (
	"context"
	"os"
	"os/exec"
)

// Program is a command with one of Ceph's programs, of the release that runs.
func (c *Ceph) Program(ctx context.Context, program string, arguments ...string) (*exec.Cmd, error) {
	path, err := c.programs.Path(program)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, path, arguments...), nil
}

// Version is that of the programs, such as "16.2.15".
func (c *Ceph) Version(ctx context.Context) (string, error) { return c.programs.Version(ctx) }

// Shell is a command with a line that the cluster's administrator types, on a machine that has Ceph's
// programs of the release that runs.
func (c *Ceph) Shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+c.programs.SearchPath(), "CEPH_ARGS=--conf "+c.ConfFile()+" --keyring "+c.KeyringFile())
	return cmd
}
