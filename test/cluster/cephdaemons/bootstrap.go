package cephdaemons

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// startTimeout is far above what a busy machine needs.
const startTimeout = 3 * time.Minute

func (c *Ceph) bootstrap(ctx context.Context, mons int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for i := range mons {
		address, err := c.newMonAddress(string(rune('a' + i)))
		if err != nil {
			return err
		}
		c.mons = append(c.mons, address)
	}
	// The mons take all users from this keyring at their birth, which saves a command each.
	mon := newEntity(c.options.KeyType, "mon.", "mon", "allow *")
	mgr := newEntity(c.options.KeyType, "mgr.x", "mds", "allow *", "mon", "allow profile mgr", "osd", "allow *")
	osd := newEntity(c.options.KeyType, "osd.0", "mgr", "allow profile osd", "mon", "allow profile osd", "osd", "allow *")
	mds := newEntity(c.options.KeyType, "mds.a", "mds", "allow", "mgr", "allow profile mds", "mon", "allow profile mds", "osd", "allow *")
	var err error
	if c.folders, err = c.daemonFolders(ctx); err != nil {
		return err
	}
	if err := c.writeFiles(mgr, osd, mds); err != nil {
		return err
	}
	if err := c.startMons(ctx, keyring(mon, c.admin, mgr, osd, mds)); err != nil {
		return err
	}
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() error { return c.start("ceph-mgr", mgrID) })
	group.Go(func() error { return c.start("ceph-mds", mdsID) })
	group.Go(func() error { return c.startOSD(groupContext) })
	if err := group.Wait(); err != nil {
		return err
	}
	if !c.options.WithoutFilesystem {
		if err := c.CreateFilesystem(ctx, Filesystem); err != nil {
			return err
		}
	}
	return c.waitReady(ctx)
}

func (c *Ceph) writeFiles(daemons ...entity) error {
	if err := os.MkdirAll(c.options.Dir, 0o700); err != nil {
		return err
	}
	errs := []error{c.writeConfs(), os.WriteFile(c.KeyringFile(), []byte(c.Keyring()), 0o600)}
	for _, e := range daemons {
		data := filepath.Join(c.options.Dir, e.name)
		errs = append(errs, os.MkdirAll(data, 0o700), os.WriteFile(filepath.Join(data, "keyring"), []byte(keyring(e)), 0o600))
	}
	return errors.Join(errs...)
}

func (c *Ceph) startMons(ctx context.Context, keys string) error {
	keysFile := filepath.Join(c.options.Dir, "mon-birth.keyring")
	if err := os.WriteFile(keysFile, []byte(keys), 0o600); err != nil {
		return err
	}
	monMap := filepath.Join(c.options.Dir, "monmap")
	arguments := []string{"--create", "--clobber", "--fsid", c.fsid}
	ciphers, err := c.monMapCiphers(ctx)
	if err != nil {
		return err
	}
	arguments = append(arguments, ciphers...)
	for _, m := range c.mons {
		arguments = append(arguments, "--addv", m.name, m.String())
	}
	if _, err := c.run(ctx, "monmaptool", append(arguments, monMap)...); err != nil {
		return err
	}
	for _, m := range c.mons {
		if err := c.makeMon(ctx, m.name, monMap, keysFile); err != nil {
			return err
		}
		if err := c.start("ceph-mon", m.name); err != nil {
			return err
		}
	}
	return nil
}

// makeMon fills the data folder of a mon.
func (c *Ceph) makeMon(ctx context.Context, name, monMap, keys string) error {
	data := filepath.Join(c.options.Dir, "mon."+name)
	if err := errors.Join(os.RemoveAll(data), os.MkdirAll(data, 0o700)); err != nil {
		return err
	}
	_, err := c.run(ctx, "ceph-mon", "--conf", c.daemonConfFile(), "--mkfs", "--id", name, "--monmap", monMap, "--keyring", keys)
	return err
}

func (c *Ceph) startOSD(ctx context.Context) error {
	id := string(uuid.NewUUID())
	if _, err := c.Command(ctx, "osd", "new", id, "0"); err != nil {
		return err
	}
	_, err := c.run(ctx, "ceph-osd", "--conf", c.daemonConfFile(), "--mkfs", "--id", "0", "--osd-uuid", id)
	if err != nil {
		return err
	}
	return c.start("ceph-osd", "0")
}

func (c *Ceph) newMonAddress(name string) (monAddress, error) {
	ports, err := process.FreePorts(2)
	if err != nil {
		return monAddress{}, err
	}
	return monAddress{name: name, host: c.options.Address, v2: ports[0], v1: ports[1]}, nil
}

func (c *Ceph) run(ctx context.Context, program string, arguments ...string) ([]byte, error) {
	path, err := c.programs.Path(program)
	if err != nil {
		return nil, err
	}
	return process.Output(ctx, path, arguments...)
}
