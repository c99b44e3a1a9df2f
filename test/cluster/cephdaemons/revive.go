package cephdaemons

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// mostCrashes are how many crashes of a daemon are forgiven.
const mostCrashes = 3

// start starts a daemon in the foreground, with its output in its log. One that crashes is
// started again.
func (c *Ceph) start(kind, id string, arguments ...string) error {
	all := append([]string{"--conf", c.daemonConfFile(), "--foreground", "--id", id}, arguments...)
	path, err := c.programs.Path(kind)
	if err != nil {
		return err
	}
	p, err := c.options.Daemons.Start(kind+"."+id, path, all...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.daemon[p.Name] = p
	go func() {
		<-p.Done()
		c.revive(p, func() error { return c.start(kind, id, arguments...) })
	}()
	return nil
}

// revive does what the service of a daemon does when that crashes: Ceph's own faults are
// nothing to judge here. A mon of 16.2.15 was seen to fail an assertion while another joined
// (buffer.cc: FAILED ceph_assert(_raw), in PosixConnectedSocketImpl::send).
func (c *Ceph) revive(p *process.Process, start func() error) {
	if !c.forgiven(p) {
		return
	}
	if !startsAnew(p) {
		c.mu.Lock()
		c.crashes[p.Name]++
		c.mu.Unlock()
	}
	fmt.Fprintf(c.options.Log, "started again: %v\n", errors.Join(p.Exited(), start()))
}

// startsAnew says whether a daemon wanted to start itself anew, as an MDS does when its filesystem is
// failed. One of an unpacked release then starts the dynamic linker that it was started by, with nothing
// but its own arguments.
func startsAnew(p *process.Process) bool {
	return p.Failed() && strings.Contains(p.Exited().Error(), "unrecognized option '--conf'")
}

// forgiven says whether a daemon has crashed, or wanted to start itself anew, and is to be started again.
// One that was killed, or replaced, is not.
func (c *Ceph) forgiven(p *process.Process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.daemon[p.Name] == p && (startsAnew(p) || p.Crashed() && c.crashes[p.Name] < mostCrashes)
}

// ended tells of daemons that ended without having been told to.
func (c *Ceph) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, p := range c.daemon {
		if !startsAnew(p) && (!p.Crashed() || c.crashes[p.Name] >= mostCrashes) {
			errs = append(errs, p.Exited())
		}
	}
	return errors.Join(errs...)
}
