//go:build cgo

package rados

import (
	"context"
	"fmt"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Sessions asks each mon in quorum for its clients, this connection among them: every client of
// Ceph, in a kernel too, holds a session with one of them all the time. The user needs mon caps
// "allow r". A mon that does not answer is an error: its clients are unknown.
func (c *Conn) Sessions(ctx context.Context) ([]ceph.Session, error) {
	mons, err := c.Quorum(ctx)
	if err != nil {
		return nil, err
	}
	command, err := arguments{}.encode("sessions")
	if err != nil {
		return nil, err
	}
	var sessions []ceph.Session
	for _, mon := range mons {
		output, err := call(ctx, c, func(conn *rados.Conn) ([]byte, error) {
			output, status, err := conn.MonCommandTarget(mon, [][]byte{command})
			if err != nil {
				return nil, failure("tell mon sessions", status, err)
			}
			return output, nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing the clients of mon %s: %w", mon, err)
		}
		found, err := ceph.ParseSessions(output)
		if err != nil {
			return nil, fmt.Errorf("mon %s: %w", mon, err)
		}
		sessions = append(sessions, found...)
	}
	return sessions, nil
}

// RemoveUser removes a cephx user; one that is missing is no error. Its sessions go on.
func (c *Conn) RemoveUser(ctx context.Context, id string) error {
	if _, err := c.mon(ctx, "auth rm", user(id, ceph.Caps{})); err != nil {
		return fmt.Errorf("removing Ceph user client.%s: %w", id, err)
	}
	return nil
}
