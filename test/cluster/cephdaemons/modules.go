package cephdaemons

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// withoutBcrypt stands in for Python's bcrypt, which Debian 13's mgr cannot load a second time in one
// process, and without which it loads no module. Only the dashboard hashes passwords.
const withoutBcrypt = `def gensalt(*args, **kwargs): raise NotImplementedError
hashpw = checkpw = gensalt
`

// alwaysOn are the modules that every mgr has on. It loads all others as well, in an interpreter for
// each, which takes a busy machine a minute.
var alwaysOn = []string{
	"balancer", "crash", "devicehealth", "orchestrator", "pg_autoscaler", "progress", "rbd_support", "status", "telemetry", "volumes",
}

// modulesFolder has the modules of the mgr.
const modulesFolder = "mgr-modules"

// daemonFolders are the settings that say where daemons find their parts.
func (c *Ceph) daemonFolders(ctx context.Context) (map[string]string, error) {
	folders, err := c.programs.Folders()
	if err != nil {
		return nil, err
	}
	version, err := c.programs.Version(ctx)
	if err != nil {
		return nil, err
	}
	const setting = "mgr module path"
	modules := filepath.Join(c.options.Dir, modulesFolder)
	if err := copyModules(folders[setting], modules, version); err != nil {
		return nil, fmt.Errorf("modules of the mgr: %w", err)
	}
	folders[setting] = modules
	return folders, nil
}

// copyModules makes a folder of those of the mgr's modules that are always on, which the mgr can load
// with newer releases of Python, too.
func copyModules(from, to, version string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	errs := []error{os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "bcrypt.py"), []byte(withoutBcrypt), 0o600)}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(from, entry.Name(), "module.py")); err == nil && !slices.Contains(alwaysOn, entry.Name()) {
			continue
		}
		if entry.Name() == "rbd_support" && strings.HasPrefix(version, "18.") {
			errs = append(errs, copySilentTasks(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())))
			continue
		}
		errs = append(errs, os.Symlink(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())))
	}
	return errors.Join(errs...)
}

// copySilentTasks copies the module rbd_support without the callbacks for the progress of its tasks:
// those of Ceph 18 crash the mgr with Python 3.13.
func copySilentTasks(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	file := filepath.Join(to, "task.py")
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const callback = "on_progress=partial(self.progress_callback, task)"
	if !bytes.Contains(content, []byte(callback)) {
		return fmt.Errorf("%s has no %q", file, callback)
	}
	return os.WriteFile(file, bytes.ReplaceAll(content, []byte(callback), []byte("on_progress=None")), 0o600)
}

// BreakModule has the mgr start anew with a program in place of one of its modules, until MendModule.
func (c *Ceph) BreakModule(ctx context.Context, module, program string) error {
	at, aside := c.module(module)
	if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
		if err := errors.Join(os.Rename(at, aside), os.Mkdir(at, 0o700)); err != nil {
			return err
		}
	}
	err := errors.Join(
		os.WriteFile(filepath.Join(at, "__init__.py"), []byte("from .module import Module\n"), 0o600),
		os.WriteFile(filepath.Join(at, "module.py"), []byte(program), 0o600),
	)
	if err != nil {
		return err
	}
	return c.Restart(ctx, mgrDaemon)
}

// MendModule has the mgr start anew with the module itself, which it loads some time after it answers.
func (c *Ceph) MendModule(ctx context.Context, module string) error {
	at, aside := c.module(module)
	if err := errors.Join(os.RemoveAll(at), os.Rename(aside, at)); err != nil {
		return err
	}
	return c.Restart(ctx, mgrDaemon)
}

// module is where the mgr has a module, and where it does not look for one.
func (c *Ceph) module(name string) (at, aside string) {
	return filepath.Join(c.options.Dir, modulesFolder, name), filepath.Join(c.options.Dir, "whole-"+name)
}
