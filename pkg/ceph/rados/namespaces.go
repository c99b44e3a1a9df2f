//go:build cgo

package rados

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// What librbd keeps in a pool, and how it writes (src/librbd/api/Namespace.cc, src/cls/rbd).
const (
	namespacesObject = "rbd_namespace"
	namespaceKey     = "name_"
	directoryObject  = "rbd_directory"
	rbdClass         = "rbd"
)

// Namespaces lists the RADOS namespaces that images can be in, sorted, as `rbd namespace ls` does.
func (c *Conn) Namespaces(ctx context.Context, pool string) ([]string, error) {
	names, err := in(ctx, c, pool, "", func(io *rados.IOContext) ([]string, error) {
		const atOnce = 512
		keys, err := io.GetAllOmapValues(namespacesObject, "", namespaceKey, atOnce)
		if number(err) == -int(syscall.ENOENT) {
			return nil, nil
		}
		if err != nil {
			return nil, failure("namespace ls", "", err)
		}
		names := slices.Collect(maps.Keys(keys))
		for i := range names {
			names[i] = strings.TrimPrefix(names[i], namespaceKey)
		}
		slices.Sort(names)
		return names, nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the RADOS namespaces of pool %q: %w", pool, err)
	}
	return names, nil
}

// CreateNamespace does what `rbd namespace create` does, unless the namespace exists.
func (c *Conn) CreateNamespace(ctx context.Context, pool, namespace string) error {
	err := ceph.CheckNamespace(namespace)
	if err == nil {
		_, err = in(ctx, c, pool, "", func(io *rados.IOContext) (struct{}, error) {
			name := binary.LittleEndian.AppendUint32(nil, uint32(len(namespace)))
			err := execute(io, namespacesObject, "namespace_add", append(name, namespace...))
			if err != nil && number(err) != -int(syscall.EEXIST) {
				return struct{}{}, failure("namespace create", "", err)
			}
			io.SetNamespace(namespace)
			if err := execute(io, directoryObject, "dir_state_set", []byte{0}); err != nil {
				return struct{}{}, failure("namespace create", "", err)
			}
			return struct{}{}, nil
		})
	}
	if err != nil {
		return fmt.Errorf("creating RADOS namespace %q in pool %q: %w", namespace, pool, err)
	}
	return nil
}

func execute(io *rados.IOContext, object, method string, input []byte) error {
	op := rados.CreateWriteOp()
	defer op.Release()
	op.Exec(rbdClass, method, input)
	return op.Operate(io, object, rados.OperationNoFlag)
}
