// Package cephdaemons runs a real Ceph (mon, mgr, osd in memory, mds) from the distribution's
// packages on loopback, as any user.
package cephdaemons

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephrelease"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// Filesystem is the name of the filesystem that a cluster has from the start.
const Filesystem = "myfs"

// mdsID is the name of the only MDS, and mdsDaemon that of its process; the same of the mgr.
const (
	mdsID     = "a"
	mdsDaemon = "ceph-mds." + mdsID
	mgrID     = "x"
	mgrDaemon = "ceph-mgr." + mgrID
	osdDaemon = "ceph-osd.0"
)

// Options say where and how to run.
type Options struct {
	// Dir is a folder for Ceph alone; it is made.
	Dir string
	// Mons is the number of mons at the start; 0 means one.
	Mons int
	// WithoutFilesystem leaves out Filesystem; the MDS runs all the same, as a standby.
	WithoutFilesystem bool
	// KeyType is the type of all keys, "aes" or, of a Ceph that knows it, "aes256k". A cluster with
	// "aes" allows both types, as one does that was upgraded. Empty means what the environment says.
	KeyType string
	// Address is where the daemons listen; empty means loopback.
	Address string
	Daemons *process.Group
	// Log is told what has been reached; nil means nobody.
	Log io.Writer
}

// Ceph is a running cluster. Its methods may be called at the same time.
type Ceph struct {
	options  Options
	programs cephrelease.Programs
	// folders are settings of all daemons.
	folders map[string]string
	fsid    string
	admin   entity

	mu     sync.Mutex
	mons   []monAddress
	daemon map[string]*process.Process
	// python runs interpreters, of which the idle ones wait for commands; empty where there are none.
	python string
	idle   []*interpreter
	// forgotten counts how often interpreters were.
	forgotten int
	// crashes are how often a daemon, by its name, was started again after a crash.
	crashes map[string]int
	// paused is set between Pause and Resume.
	paused bool
}

// Start returns when the mons have a quorum, the mgr is active, the OSD up and, unless left
// out, the filesystem active. Who stops the process group stops Ceph.
func Start(ctx context.Context, o Options) (*Ceph, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	programs, err := cephrelease.Chosen(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	ceph, err := programs.Path("ceph")
	if err != nil {
		return nil, err
	}
	o.KeyType = cmp.Or(o.KeyType, cephrelease.KeyType())
	if o.Address == "" {
		o.Address = "127.0.0.1"
	}
	c := &Ceph{
		options:  o,
		programs: programs,
		python:   pythonOf(ceph),
		fsid:     string(uuid.NewUUID()),
		admin:    newEntity(o.KeyType, "client.admin", "mds", "allow *", "mgr", "allow *", "mon", "allow *", "osd", "allow *"),
		daemon:   map[string]*process.Process{},
		crashes:  map[string]int{},
	}
	return c, c.bootstrap(ctx, max(o.Mons, 1))
}

// FSID is the Ceph cluster ID.
func (c *Ceph) FSID() string { return c.fsid }

// Conf is the ceph.conf of the cluster's administrator, with the mons of now.
func (c *Ceph) Conf() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return adminConf(c.fsid, c.mons)
}

// Keyring is the keyring file of the cluster's administrator, client.admin.
func (c *Ceph) Keyring() string { return keyring(c.admin) }

// ConfFile is the path of a file with Conf.
func (c *Ceph) ConfFile() string { return filepath.Join(c.options.Dir, "ceph.conf") }

// KeyringFile is the path of a file with Keyring.
func (c *Ceph) KeyringFile() string { return filepath.Join(c.options.Dir, "keyring") }

// Pause freezes all daemons: connections stay open and nothing answers.
func (c *Ceph) Pause() error {
	c.mu.Lock()
	c.paused = true
	c.mu.Unlock()
	return c.each((*process.Process).Pause)
}

// Resume continues paused daemons, but for the MDS, which is started anew: of one that was
// frozen for a minute, the mons hear nothing any more (seen with Ceph 16.2.15).
func (c *Ceph) Resume() error {
	if err := c.each((*process.Process).Resume); err != nil {
		return err
	}
	c.forgetInterpreters()
	c.mu.Lock()
	restart := c.paused && c.daemon[mdsDaemon] != nil
	c.paused = false
	c.mu.Unlock()
	if !restart {
		return nil
	}
	return c.ResumeMDS()
}

// AddMDS starts another MDS, which takes over a filesystem that has none.
func (c *Ceph) AddMDS(ctx context.Context, id string) error {
	name := "mds." + id
	data := filepath.Join(c.options.Dir, name)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	_, err := c.Command(ctx, "auth", "get-or-create", name, "mds", "allow", "mgr", "allow profile mds", "mon", "allow profile mds", "osd", "allow *",
		"-o", filepath.Join(data, "keyring"))
	if err != nil {
		return err
	}
	return c.start("ceph-mds", id)
}

// PauseMgr freezes the mgr alone. After half a minute the mons take it for dead.
func (c *Ceph) PauseMgr() error { return c.mgr().Pause() }

// ResumeMgr continues a paused mgr.
func (c *Ceph) ResumeMgr() error { return c.mgr().Resume() }

func (c *Ceph) mgr() *process.Process { return c.process(mgrDaemon) }

// PauseOSD freezes the OSD alone, of which nobody tells the mons.
func (c *Ceph) PauseOSD() error { return c.process(osdDaemon).Pause() }

// ResumeOSD continues a paused OSD, and has it join anew: what it was asked while its lease on a placement group of which
// it has the only copy had run out, it would answer at the next change of that group alone, maybe never (seen with Ceph
// 16.2.15, "laggy"). It returns when the OSD has joined.
func (c *Ceph) ResumeOSD(ctx context.Context) error {
	if err := c.process(osdDaemon).Resume(); err != nil {
		return err
	}
	if _, err := c.Command(ctx, "osd", "down", "0"); err != nil {
		return err
	}
	return c.waitFor(ctx, "the OSD", func(s status) bool { return s.OSDMap.Up > 0 })
}

// PauseMDS freezes the MDS alone.
func (c *Ceph) PauseMDS() error { return c.process(mdsDaemon).Pause() }

// ResumeMDS starts a paused MDS anew, as Resume does.
func (c *Ceph) ResumeMDS() error {
	c.kill(mdsDaemon)
	return c.start("ceph-mds", mdsID)
}

// Kill kills all daemons of a kind, such as "ceph-mgr", and returns their names. The OSD is told to end instead: its
// store is in memory, and kept in a file when it ends.
func (c *Ceph) Kill(ctx context.Context, kind string) []string {
	defer c.forgetInterpreters()
	killed := slices.DeleteFunc(c.Daemons(), func(daemon string) bool { return !strings.HasPrefix(daemon, kind+".") })
	for _, daemon := range killed {
		if daemon == osdDaemon {
			c.stop(ctx, daemon)
		} else {
			c.kill(daemon)
		}
	}
	return killed
}

// StartAgain starts daemons that Kill has ended, and returns when Ceph serves.
func (c *Ceph) StartAgain(ctx context.Context, killed []string) error {
	var errs []error
	for _, daemon := range killed {
		kind, id, _ := strings.Cut(daemon, ".")
		if daemon == mdsDaemon || daemon == mgrDaemon {
			// Until its successor has joined, the mons take the one that was killed for active.
			_, err := c.Command(ctx, strings.TrimPrefix(kind, "ceph-"), "fail", id)
			errs = append(errs, err)
		}
		if daemon == mgrDaemon && !c.options.WithoutFilesystem {
			errs = append(errs, c.evict(ctx, id))
		}
		errs = append(errs, c.start(kind, id))
	}
	return errors.Join(append(errs, c.waitReady(ctx))...)
}

// evict ends the sessions of a mgr that was killed. The mons have the MDS do so where they know of its mount, and the MDS may
// leave it for as long as an OSD is slow: others wait for what it holds (seen with Ceph 16.2.15).
func (c *Ceph) evict(ctx context.Context, mgr string) error {
	_, err := c.Command(ctx, "tell", "mds."+mdsID, "client", "evict", "client_metadata.entity_id="+mgr)
	return err
}

func (c *Ceph) process(daemon string) *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.daemon[daemon]
}

func (c *Ceph) each(do func(*process.Process) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, p := range c.daemon {
		if p.Exited() == nil {
			errs = append(errs, do(p))
		}
	}
	return errors.Join(errs...)
}

// Daemons are the names of the running daemons, such as "ceph-mon.a", sorted.
func (c *Ceph) Daemons() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name, p := range c.daemon {
		if p.Exited() == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *Ceph) daemonConfFile() string { return filepath.Join(c.options.Dir, "daemons.conf") }

// writeConfs writes the configurations anew, for the mons of now, and has commands go by them.
func (c *Ceph) writeConfs() error {
	defer c.forgetInterpreters()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(
		os.WriteFile(c.ConfFile(), []byte(adminConf(c.fsid, c.mons)), 0o600),
		os.WriteFile(c.daemonConfFile(), []byte(daemonConf(c.fsid, c.mons, c.options.Address, c.options.Dir, c.folders)), 0o600),
	)
}

// Restart ends the mgr ("ceph-mgr.x") or the OSD ("ceph-osd.0") as its service would, starts it
// again, and returns when it serves.
func (c *Ceph) Restart(ctx context.Context, daemon string) error {
	c.mu.Lock()
	p := c.daemon[daemon]
	c.mu.Unlock()
	if p == nil {
		return fmt.Errorf("there is no daemon %s", daemon)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		return err
	}
	kind, id, _ := strings.Cut(daemon, ".")
	if err := c.start(kind, id); err != nil {
		return err
	}
	return c.waitReady(ctx)
}
