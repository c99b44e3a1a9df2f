package cephdaemons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// Mons are the names of the monmap's mons as far as these methods changed it, in the order of
// their making. A killed mon stays in the monmap.
func (c *Ceph) Mons() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, m := range c.mons {
		names = append(names, m.name)
	}
	return names
}

// MonHost is the address list of the named mon, as in ceph.conf's mon_host; empty when there
// is no such mon.
func (c *Ceph) MonHost(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.mons {
		if m.name == name {
			return m.String()
		}
	}
	return ""
}

// AddMon adds a mon on a new port and returns when it is in the quorum.
func (c *Ceph) AddMon(ctx context.Context, name string) error {
	if c.MonHost(name) != "" {
		return fmt.Errorf("mon %s exists", name)
	}
	address, err := c.newMonAddress(name)
	if err != nil {
		return err
	}
	monMap, keys := filepath.Join(c.options.Dir, "monmap."+name), filepath.Join(c.options.Dir, "mon."+name+".keyring")
	if _, err := c.Command(ctx, "mon", "getmap", "--out-file", monMap); err != nil {
		return err
	}
	if err := os.WriteFile(keys, nil, 0o600); err != nil {
		return err
	}
	if _, err := c.Command(ctx, "auth", "get", "mon.", "--out-file", keys); err != nil {
		return err
	}
	if err := c.makeMon(ctx, name, monMap, keys); err != nil {
		return err
	}
	if err := c.start("ceph-mon", name, "--public-addrv", address.String()); err != nil {
		return err
	}
	err = c.waitFor(ctx, "a quorum with mon "+name, func(s status) bool { return s.hasMon(name) })
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.mons = append(c.mons, address)
	c.mu.Unlock()
	return c.writeConfs()
}

// RemoveMon takes a mon out of the monmap, running or killed, and returns when the others have a quorum
// without it, and all daemons a session with one of them. Where the others are a quorum, it ends the mon
// first, as Ceph's documentation says: a client that finds a mon between its removal and its end keeps it for
// ever (seen with 16.2.15). A daemon that is lost so can be started anew; a ceph-fuse cannot, nor be unmounted.
func (c *Ceph) RemoveMon(ctx context.Context, name string) error {
	c.mu.Lock()
	c.mons = slices.DeleteFunc(c.mons, func(m monAddress) bool { return m.name == name })
	c.mu.Unlock()
	// From here on commands ask the other mons only.
	if err := c.writeConfs(); err != nil {
		return err
	}
	if c.othersAreQuorum() {
		c.stop(ctx, "ceph-mon."+name)
		c.forgetInterpreters()
	}
	if err := c.forgetMon(ctx, name); err != nil {
		return err
	}
	c.KillMon(name)
	err := c.waitFor(ctx, "a quorum without mon "+name, func(s status) bool { return len(s.QuorumNames) > 0 && !s.hasMon(name) })
	if err != nil {
		return err
	}
	return c.waitForSessions(ctx, lostAfter)
}

// lostAfter is when a daemon that looks for a mon will find none any more.
const lostAfter = 45 * time.Second

// waitForSessions waits until each daemon that runs has a session with a mon, and starts those anew that find
// none, as an administrator would.
func (c *Ceph) waitForSessions(ctx context.Context, lostAfter time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	next := time.Now().Add(lostAfter)
	for {
		lost, err := c.withoutSession(ctx)
		if err == nil && len(lost) == 0 {
			return nil
		}
		if err == nil && time.Now().After(next) {
			next = time.Now().Add(lostAfter)
			err = c.startAnew(ctx, lost)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no mon has a session with %s: %w", strings.Join(lost, ", "), errors.Join(ctx.Err(), err))
		case <-time.After(pollEvery):
		}
	}
}

// startAnew ends daemons, which are named as mons name them, as their service would: an OSD has its data in
// memory, and writes them down then. With an MDS goes the mgr, which mounts the filesystem: a new MDS of
// 16.2.15 was seen to ignore its session, and commands about subvolumes to wait for ever.
func (c *Ceph) startAnew(ctx context.Context, names []string) error {
	const mgr = "mgr." + mgrID
	if slices.Contains(names, "mds."+mdsID) && !slices.Contains(names, mgr) && c.mgr() != nil {
		names = append(slices.Clone(names), mgr)
	}
	var errs []error
	for _, name := range names {
		kind, id, _ := strings.Cut("ceph-"+name, ".")
		c.stop(ctx, kind+"."+id)
		errs = append(errs, c.start(kind, id))
		fmt.Fprintf(c.options.Log, "%s.%s found no mon, or its MDS did not, and was started again\n", kind, id)
	}
	return errors.Join(errs...)
}

// stop ends a daemon as its service would; one that has ended needs nothing.
func (c *Ceph) stop(ctx context.Context, daemon string) {
	p := c.forget(daemon)
	if p == nil || p.Exited() != nil {
		return
	}
	ending, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	if err := p.Stop(ending); err != nil {
		fmt.Fprintln(c.options.Log, err)
	}
}

// othersAreQuorum says whether those of c.mons that run are a majority of a monmap that has one mon more.
func (c *Ceph) othersAreQuorum() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := 0
	for _, m := range c.mons {
		if p := c.daemon["ceph-mon."+m.name]; p != nil && p.Exited() == nil {
			running++
		}
	}
	return 2*running > len(c.mons)+1
}

// endsWithin is how long a daemon may take to end, before it is killed.
const endsWithin = 20 * time.Second

// withoutSession are the daemons that no mon has a session with; mons are no such daemons.
func (c *Ceph) withoutSession(ctx context.Context) ([]string, error) {
	c.mu.Lock()
	var lost []string
	for daemon, p := range c.daemon {
		if name, _ := strings.CutPrefix(daemon, "ceph-"); !strings.HasPrefix(name, "mon.") && p.Exited() == nil {
			lost = append(lost, name)
		}
	}
	c.mu.Unlock()
	slices.Sort(lost)
	for _, mon := range c.Mons() {
		if len(lost) == 0 {
			break
		}
		found, err := c.sessions(ctx, mon)
		if err != nil {
			return lost, err
		}
		lost = slices.DeleteFunc(lost, func(name string) bool { return slices.Contains(found, name) })
	}
	return lost, nil
}

// sessions are the names of those that a mon has a session with, as in `ceph tell mon.a sessions`.
func (c *Ceph) sessions(ctx context.Context, mon string) ([]string, error) {
	out, err := c.Command(ctx, "tell", "mon."+mon, "sessions")
	if err != nil {
		return nil, err
	}
	var all []struct {
		Entity string `json:"entity_name"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("sessions of mon %s: %w", mon, err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Entity)
	}
	return names, nil
}

// forgetMon takes a mon out of the monmap. The mons answer before that is settled: had the one that
// is removed been their leader, and been killed at once, it would stay. Or they never answer, when the
// command was with the leader that is removed.
func (c *Ceph) forgetMon(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if err := c.askToRemove(ctx, name); err != nil {
			return err
		}
		var known struct {
			Mons []struct{ Name string }
		}
		out, err := c.Command(ctx, "mon", "dump", "--format", "json")
		if err == nil {
			err = json.Unmarshal(out, &known)
		}
		if err != nil {
			return fmt.Errorf("monmap without mon %s: %w", name, err)
		}
		if !slices.ContainsFunc(known.Mons, func(m struct{ Name string }) bool { return m.Name == name }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("mon %s stays in the monmap: %w", name, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// answerTimeout is how long a mon may take for an answer on a busy machine.
const answerTimeout = 30 * time.Second

// askToRemove waits for an answer no longer than answerTimeout: asking again does no harm.
func (c *Ceph) askToRemove(ctx context.Context, name string) error {
	attempt, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if _, err := c.Command(attempt, "mon", "remove", name); err != nil && attempt.Err() == nil {
		return err
	}
	return ctx.Err()
}

// KillMon kills a mon's daemon, which stays in the monmap. With a majority of mons dead nothing
// answers any more.
func (c *Ceph) KillMon(name string) {
	c.kill("ceph-mon." + name)
	c.forgetInterpreters()
}

func (c *Ceph) kill(daemon string) {
	if p := c.forget(daemon); p != nil && p.Exited() == nil {
		p.Kill()
	}
}

// forget has a daemon end without being started again; nil is none.
func (c *Ceph) forget(daemon string) *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.daemon[daemon]
	delete(c.daemon, daemon)
	return p
}

// PauseMons freezes all mons and nothing else: who has a connection keeps it, and gets no answer.
func (c *Ceph) PauseMons() error { return c.eachMon((*process.Process).Pause) }

// ResumeMons continues paused mons.
func (c *Ceph) ResumeMons() error {
	defer c.forgetInterpreters()
	return c.eachMon((*process.Process).Resume)
}

func (c *Ceph) eachMon(do func(*process.Process) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for daemon, p := range c.daemon {
		if strings.HasPrefix(daemon, "ceph-mon.") {
			errs = append(errs, do(p))
		}
	}
	return errors.Join(errs...)
}

// StartMon starts a killed mon again and returns when it is in the quorum.
func (c *Ceph) StartMon(ctx context.Context, name string) error {
	if err := c.start("ceph-mon", name); err != nil {
		return err
	}
	return c.waitFor(ctx, "a quorum with mon "+name, func(s status) bool { return s.hasMon(name) })
}
