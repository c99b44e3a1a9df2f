//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/ceph/go-ceph/cephfs"
	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Mount is a client of a CephFS filesystem. The user needs mds caps "allow r". A call without an
// answer keeps its thread, and the mount, until it is answered.
type Mount struct {
	conn       *Conn
	filesystem string
	session    *Conn
	mount      *cephfs.MountInfo
}

// Mount mounts a filesystem, which must have an active MDS. ErrDenied says that the user may not.
// Close it: until then, the MDS counts it as a client.
func (c *Conn) Mount(ctx context.Context, filesystem string) (*Mount, error) {
	m, err := c.mountOf(ctx, filesystem)
	if err != nil {
		return nil, fmt.Errorf("mounting filesystem %q: %w", filesystem, err)
	}
	return m, nil
}

func (c *Conn) mountOf(ctx context.Context, filesystem string) (*Mount, error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, err
	}
	session, err := c.unlimited(ctx, cap(c.slots))
	if err != nil {
		return nil, err
	}
	m, err := await(ctx, func() (*Mount, error) {
		mount, err := mountFrom(session.conn, filesystem)
		if err != nil {
			session.Close()
			return nil, err
		}
		return &Mount{conn: c, filesystem: filesystem, session: session, mount: mount}, nil
	}, func(late *Mount) {
		if late != nil {
			late.Close()
		}
	})
	// Since Ceph 18, an MDS does not answer a user without caps for it, which older ones refuse.
	if ceph.Errno(err) == syscall.ETIMEDOUT && settles(ctx, func(ctx context.Context) bool {
		active, _ := c.allActive(ctx)
		return active && c.checkActive(ctx, filesystem) == nil
	}) {
		return nil, fmt.Errorf("%w: the MDS is active and does not answer client.%s: it has no caps for the MDS", ceph.ErrDenied, c.source.UserID)
	}
	return m, err
}

func mountFrom(conn *rados.Conn, filesystem string) (*cephfs.MountInfo, error) {
	mount, err := cephfs.CreateFromRados(conn)
	if err != nil {
		return nil, failure("mount", "", err)
	}
	if err = mount.SelectFilesystem(filesystem); err == nil {
		err = mount.Mount()
	}
	if err != nil {
		_ = mount.Release()
		return nil, failure("mount", "", err)
	}
	return mount, nil
}

// closing bounds how long Conn.Close waits for filesystems to be unmounted.
const closing = 10 * time.Second

// Close unmounts as soon as no call is under way, which libcephfs takes up to a second for. It does
// not wait; Close of the Conn does, for some seconds: a client that dies mounted keeps what the MDS
// lent to it from the mgr for a minute.
func (m *Mount) Close() {
	m.conn.unmounting.Go(func() {
		_, _ = call(context.Background(), m.session, func(*rados.Conn) (struct{}, error) {
			return struct{}{}, errors.Join(m.mount.Unmount(), m.mount.Release())
		})
		m.session.Close()
	})
}

// unmounted waits, some seconds, for filesystems that are being unmounted.
func (c *Conn) unmounted() {
	done := make(chan struct{})
	go func() {
		c.unmounting.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closing):
	}
}

// Clients lists the clients that have the filesystem mounted, this one too, once for each rank that
// they have a session with: none has to have one with all. A rank that does not answer is an error:
// its clients are unknown. It is asked by its MDS: librados aborts the process for a rank that none
// holds (seen with 16.2.15). The user needs mds caps "allow r" of the whole filesystem.
func (m *Mount) Clients(ctx context.Context) ([]ceph.FileClient, error) {
	filesystems, err := m.conn.FileSystems(ctx)
	if err != nil {
		return nil, err
	}
	command, err := arguments{}.encode("session ls")
	if err != nil {
		return nil, err
	}
	var clients []ceph.FileClient
	for _, f := range filesystems {
		if f.Name != m.filesystem {
			continue
		}
		for _, rank := range f.Ranks {
			if rank.MDS == 0 {
				return nil, fmt.Errorf("%w: rank %d of filesystem %q has no MDS", ceph.ErrNoActiveMDS, rank.Number, m.filesystem)
			}
			output, err := call(ctx, m.session, func(*rados.Conn) ([]byte, error) {
				output, status, err := m.mount.MdsCommand(strconv.FormatInt(rank.MDS, 10), [][]byte{command})
				if err != nil {
					return nil, failure("session ls", status, err)
				}
				return output, nil
			})
			if err != nil {
				return nil, fmt.Errorf("listing the clients of rank %d of filesystem %q: %w", rank.Number, m.filesystem, err)
			}
			found, err := ceph.ParseFileClients(output)
			if err != nil {
				return nil, fmt.Errorf("rank %d of filesystem %q: %w", rank.Number, m.filesystem, err)
			}
			clients = append(clients, found...)
		}
	}
	return clients, nil
}
