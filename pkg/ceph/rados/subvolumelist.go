//go:build cgo

package rados

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Subvolumes lists the subvolumes of a group, "" for those without one: retained ones and clones in
// flight, too. Without an active MDS it returns ErrNoActiveMDS and asks nothing, because the mgr
// would hang for everyone.
func (c *Conn) Subvolumes(ctx context.Context, filesystem, group string) ([]string, error) {
	err := c.checkActive(ctx, filesystem)
	var output []byte
	if err == nil {
		output, err = c.mgr(ctx, "fs subvolume ls", subvolumeArguments(ceph.SubvolumePlace{Filesystem: filesystem, Group: group}))
	}
	if err != nil {
		return nil, fmt.Errorf("listing the subvolumes of group %q of filesystem %q: %w", group, filesystem, err)
	}
	return ceph.ParseNames(output)
}
