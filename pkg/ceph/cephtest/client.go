package cephtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// version is what the mons say of themselves.
const version = "16.2.15"

// firstClient is near to the numbers that the clients of a young Ceph have.
const firstClient = 4100

// Client is a session with a Cluster. It keeps the rights that its user had when it was
// made.
type Client struct {
	cluster *Cluster
	rights  user
	// number is what Ceph calls it by.
	number uint64

	mu     sync.Mutex
	closed bool
}

// Dial connects as rados.Dial does: a mon must be among the addresses, its cluster must be
// the declared one, and user and key must fit.
func (c *Cluster) Dial(ctx context.Context, source ceph.Source) (*Client, error) {
	client, err := c.dial(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("connecting to Ceph as client.%s at %s: %w", source.UserID, ceph.MonHost(source.Monitors), err)
	}
	return client, nil
}

func (c *Cluster) dial(ctx context.Context, source ceph.Source) (*Client, error) {
	if err := c.answer(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w within 15 s", ceph.ErrUnreachable)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.ContainsFunc(source.Monitors, c.isMon) {
		return nil, fmt.Errorf("%w within 15 s", ceph.ErrUnreachable)
	}
	u, known := c.users[source.UserID]
	accepted := c.keys.Allows(u.key.Type()) || slices.Contains(c.emergency, u.key.Type())
	if !known || u.key.Reveal() != source.Key.Reveal() || u.caps.Mon == "" || !accepted {
		return nil, fmt.Errorf("%w: the user does not exist, has another key, or has no mon caps", ceph.ErrWrongKey)
	}
	if source.FSID != "" && source.FSID != c.fsid {
		return nil, fmt.Errorf("%w: the mons belong to %s, but %s is declared", ceph.ErrOtherCluster, c.fsid, source.FSID)
	}
	c.dials++
	c.clientsMade++
	return &Client{cluster: c, rights: u, number: firstClient + c.clientsMade}, nil
}

func (c *Cluster) isMon(address ceph.Address) bool {
	for _, mon := range c.mons {
		for _, a := range mon.Addrs {
			if a == address || address.Protocol == ceph.Any && a.IP == address.IP && a.Port == address.Port {
				return true
			}
		}
	}
	return false
}

// run does the work of one command, with the cluster locked.
func (c *Client) run(ctx context.Context, prefix string, work func(*Cluster) error) error {
	return c.runOn(ctx, prefix, "client.csi-", work)
}

// runOn is run for a command on a user.
func (c *Client) runOn(ctx context.Context, prefix, entity string, work func(*Cluster) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return ceph.ErrClosed
	}
	if err := c.cluster.answer(ctx); err != nil {
		return err
	}
	if !c.rights.may(prefix, entity) {
		return refusal(prefix, syscall.EACCES, "access denied")
	}
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	return work(c.cluster)
}

// write is run for commands that change the cluster.
func (c *Client) write(ctx context.Context, prefix string, work func(*Cluster) error) error {
	return c.run(ctx, prefix, func(cluster *Cluster) error {
		cluster.writes[prefix]++
		return work(cluster)
	})
}

func refusal(prefix string, errno syscall.Errno, status string) error {
	return &ceph.CommandError{Command: prefix, Errno: -int(errno), Status: status}
}

// Close ends the session.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	c.cluster.unwatch(func(w *watch) bool { return w.client == c.number })
}
