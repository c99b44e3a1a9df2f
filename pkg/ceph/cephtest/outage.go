package cephtest

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// outage is a time in which the cluster does not answer.
type outage struct {
	// fail makes calls return ErrTimeout at once instead of waiting.
	fail bool
	over chan struct{}
}

// Stop makes every call fail with ErrTimeout at once, and Dial with ErrUnreachable, until
// Start.
func (c *Cluster) Stop() { c.setOutage(&outage{fail: true, over: make(chan struct{})}) }

// Hang makes every call wait until its context ends, or until Start.
func (c *Cluster) Hang() { c.setOutage(&outage{over: make(chan struct{})}) }

// Start ends an outage.
func (c *Cluster) Start() { c.setOutage(nil) }

func (c *Cluster) setOutage(o *outage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outage != nil {
		close(c.outage.over)
	}
	c.outage = o
}

// answer waits for the cluster; it returns ErrTimeout when there is no answer.
func (c *Cluster) answer(ctx context.Context) error {
	for ctx.Err() == nil {
		c.mu.Lock()
		o := c.outage
		c.mu.Unlock()
		if o == nil {
			return nil
		}
		if o.fail {
			return fmt.Errorf("%w: the cluster is stopped", ceph.ErrTimeout)
		}
		select {
		case <-ctx.Done():
		case <-o.over:
		}
	}
	return fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
}
