//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ReadRecord reads a whole object of our own; ErrNotFound says that there is none.
func (c *Conn) ReadRecord(ctx context.Context, pool, namespace, object string) ([]byte, error) {
	content, err := inPool(ctx, c, pool, func(io *rados.IOContext) ([]byte, error) {
		io.SetNamespace(namespace)
		return readWhole(io, object)
	})
	if err != nil {
		return nil, fmt.Errorf("reading object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return content, nil
}

func readWhole(io *rados.IOContext, object string) ([]byte, error) {
	stat, err := io.Stat(object)
	if err != nil {
		return nil, failure("stat "+object, "", err)
	}
	content := make([]byte, stat.Size)
	if stat.Size == 0 {
		return content, nil
	}
	n, err := io.Read(object, content, 0)
	if err != nil {
		return nil, failure("read "+object, "", err)
	}
	if n != len(content) {
		return nil, errors.New("the object changes while it is read")
	}
	return content, nil
}

// WriteRecord writes a whole object of our own, in one step. An empty one is refused.
func (c *Conn) WriteRecord(ctx context.Context, pool, namespace, object string, content []byte) error {
	if len(content) == 0 {
		return fmt.Errorf("writing object %s/%s of pool %q: nothing to write", namespace, object, pool)
	}
	_, err := inPool(ctx, c, pool, func(io *rados.IOContext) (struct{}, error) {
		io.SetNamespace(namespace)
		if err := io.WriteFull(object, content); err != nil {
			return struct{}{}, failure("write "+object, "", err)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return fmt.Errorf("writing object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return nil
}

// RemoveRecord removes an object of our own; one that is missing is no error.
func (c *Conn) RemoveRecord(ctx context.Context, pool, namespace, object string) error {
	_, err := inPool(ctx, c, pool, func(io *rados.IOContext) (struct{}, error) {
		io.SetNamespace(namespace)
		if err := io.Delete(object); err != nil && !missing(err) {
			return struct{}{}, failure("remove "+object, "", err)
		}
		return struct{}{}, nil
	})
	if err != nil && !errors.Is(err, ceph.ErrNotFound) {
		return fmt.Errorf("removing object %s/%s of pool %q: %w", namespace, object, pool, err)
	}
	return nil
}
