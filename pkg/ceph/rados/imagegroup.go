//go:build cgo

package rados

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Objects and keys of groups of images.
const (
	groupDirectory    = "rbd_group_directory"
	groupHeader       = "rbd_group_header."
	snapshotKeyPrefix = "snapshot_"
)

// ImageGroups reads all groups of images in a RADOS namespace of a pool.
func (c *Conn) ImageGroups(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDGroup, error) {
	groups, err := in(ctx, c, pool.Name, namespace, func(io *rados.IOContext) ([]ceph.RBDGroup, error) {
		directory, err := readOmap(io, groupDirectory)
		if err != nil {
			return nil, err
		}
		var out []ceph.RBDGroup
		for _, key := range slices.Sorted(maps.Keys(directory)) {
			name, ok := strings.CutPrefix(key, ceph.ImageKeyName)
			if !ok {
				continue
			}
			id, err := ceph.ParseEncodedString(directory[key])
			if err != nil {
				return nil, fmt.Errorf("group %q: %w", name, err)
			}
			group := ceph.RBDGroup{GroupRef: ceph.GroupRef{PoolID: pool.ID, ID: id}, Pool: pool.Name, Namespace: namespace, Name: name}
			if group.Snapshots, err = groupSnapshots(io, id); err != nil {
				return nil, err
			}
			out = append(out, group)
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the image groups in %s: %w", strings.TrimSuffix(pool.Name+"/"+namespace, "/"), err)
	}
	return groups, nil
}

func groupSnapshots(io *rados.IOContext, id string) ([]string, error) {
	omap, err := readOmap(io, groupHeader+id)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(omap)) {
		if !strings.HasPrefix(key, snapshotKeyPrefix) {
			continue
		}
		name, err := ceph.ParseGroupSnapshot(omap[key])
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", id, err)
		}
		out = append(out, name)
	}
	return out, nil
}
