//go:build cgo

package rados

import (
	"context"
	"fmt"
	"syscall"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// CreateNamespace does what `rbd namespace create` does (src/librbd/api/Namespace.cc), unless the namespace exists.
func (c *Conn) CreateNamespace(ctx context.Context, pool, namespace string) error {
	err := ceph.CheckNamespace(namespace)
	if err == nil {
		_, err = in(ctx, c, pool, "", func(io *rados.IOContext) (struct{}, error) {
			err := execute(io, imageNamespaces, "namespace_add", encodeText(nil, namespace))
			if err != nil && number(err) != -int(syscall.EEXIST) {
				return struct{}{}, failure("namespace create", "", err)
			}
			io.SetNamespace(namespace)
			if err := execute(io, imageDirectory, "dir_state_set", []byte{0}); err != nil {
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
	op.Exec(imageClass, method, input)
	return op.Operate(io, object, rados.OperationNoFlag)
}
