//go:build cgo

package rados

import (
	"context"
	"fmt"

	"github.com/ceph/go-ceph/rados"
)

// Manager asks the mgr many things over one connection, several at a time. The connection has
// no time limit of librados, for the reason that Conn.mgr gives: a command that is given up
// keeps its place, and the connection, until it is answered.
type Manager struct {
	conn    *Conn
	session *Conn
}

// Manager opens a connection for many commands; close it.
func (c *Conn) Manager(ctx context.Context) (*Manager, error) {
	session, err := c.unlimited(ctx, maxCalls)
	if err != nil {
		return nil, fmt.Errorf("connecting to Ceph for commands to the mgr: %w", err)
	}
	return &Manager{conn: c, session: session}, nil
}

// unlimited connects again, as the same user, without librados' time limit for commands. So many
// calls may be under way.
func (c *Conn) unlimited(ctx context.Context, calls int) (*Conn, error) {
	monmap, err := c.MonMap(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := await(ctx, func() (*rados.Conn, error) {
		return open(c.source, initial(monmap.MonHost()), Options{Mon: unlimited, Calls: calls})
	}, discard)
	if err != nil {
		return nil, err
	}
	return newConn(conn, c.source, calls), nil
}

// Close ends the connection as soon as no command is under way.
func (m *Manager) Close() { m.session.Close() }

// ask sends one command. Without a mgr it waits.
func (m *Manager) ask(ctx context.Context, prefix string, args arguments) ([]byte, error) {
	command, err := args.encode(prefix)
	if err != nil {
		return nil, err
	}
	return call(ctx, m.session, func(conn *rados.Conn) ([]byte, error) {
		output, status, err := conn.MgrCommand([][]byte{command})
		if err != nil {
			return nil, failure(prefix, status, err)
		}
		return output, nil
	})
}

// CheckActive returns ErrNotFound or ErrNoActiveMDS for a filesystem whose commands must not be
// sent, because the mgr would hang for everyone.
func (m *Manager) CheckActive(ctx context.Context, filesystem string) error {
	if err := m.conn.checkActive(ctx, filesystem); err != nil {
		return fmt.Errorf("filesystem %q: %w", filesystem, err)
	}
	return nil
}
