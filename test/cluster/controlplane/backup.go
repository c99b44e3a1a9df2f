package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// SaveEtcd makes a backup of all that the API server has, which is away meanwhile. There is one.
func (c *ControlPlane) SaveEtcd(ctx context.Context) error {
	return c.withoutEtcd(ctx, func() error { return replaceDir(c.backupDir(), c.etcdDir()) })
}

// RestoreEtcd brings the API server back as it was at SaveEtcd, with the resourceVersions of then, and
// starts anew whatever belongs to the control plane, as the procedures for that demand. Other clients
// notice no more than an API server that was away.
func (c *ControlPlane) RestoreEtcd(ctx context.Context) error {
	if err := c.withoutEtcd(ctx, func() error { return replaceDir(c.etcdDir(), c.backupDir()) }); err != nil {
		return err
	}
	c.manager.Kill()
	c.scheduler.Kill()
	if err := c.startControllerManager(); err != nil {
		return err
	}
	return c.startScheduler()
}

func (c *ControlPlane) etcdDir() string   { return filepath.Join(c.options.Dir, "etcd") }
func (c *ControlPlane) backupDir() string { return filepath.Join(c.options.Dir, "etcd-backup") }

func (c *ControlPlane) withoutEtcd(ctx context.Context, work func() error) error {
	c.StopServer()
	c.etcd.Kill()
	if err := work(); err != nil {
		return err
	}
	var err error
	if c.etcd, err = c.startEtcd(c.ports[0], c.ports[1]); err != nil {
		return err
	}
	return c.RestartServer(ctx)
}

func replaceDir(target, source string) error {
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.CopyFS(target, os.DirFS(source)); err != nil {
		return fmt.Errorf("copying %s: %w", source, err)
	}
	return os.Chmod(target, 0o700)
}
