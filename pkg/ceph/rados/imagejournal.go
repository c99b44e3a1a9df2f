//go:build cgo

package rados

import (
	"context"
	"fmt"
	"slices"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ImageJournals reads the directories of ceph-csi's journals and the journal objects of that name,
// in all these RADOS namespaces of a pool. It does not list the pool, which may hold millions of
// objects. Objects that are not there are left out.
func (c *Conn) ImageJournals(ctx context.Context, pool string, namespaces []string, names []ceph.JournalName) ([]ceph.JournalPiece, error) {
	objects := slices.Clone(ceph.JournalDirectories)
	for _, name := range names {
		objects = append(objects, name.Object())
	}
	var wanted []ceph.JournalPiece
	for _, namespace := range namespaces {
		for _, object := range objects {
			wanted = append(wanted, ceph.JournalPiece{Namespace: namespace, Object: object})
		}
	}
	err := inParallel(ctx, c, slices.Collect(slices.Chunk(wanted, headersAtOnce)), func(ctx context.Context, chunk []ceph.JournalPiece) error {
		_, err := in(ctx, c, pool, "", func(io *rados.IOContext) (struct{}, error) {
			for i := range chunk {
				if err := readPiece(ctx, io, &chunk[i]); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the journals in pool %q: %w", pool, err)
	}
	return slices.DeleteFunc(wanted, func(p ceph.JournalPiece) bool { return p.Omap == nil }), nil
}

// ImageGone says that neither directory, trash nor header knows an image any more.
func (c *Conn) ImageGone(ctx context.Context, i ceph.RBDImage) (bool, error) {
	gone, err := in(ctx, c, i.Pool, i.Namespace, func(io *rados.IOContext) (bool, error) {
		switch _, err := io.Stat(headerPrefix + i.ID); {
		case err == nil:
			return false, nil
		case !missing(err):
			return false, failure("stat", "", err)
		}
		for _, directory := range []string{imageTrash, imageDirectory} {
			found, err := hasKey(io, directory, ceph.ImageKeyID+i.ID)
			if found || err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return false, fmt.Errorf("looking whether image %s is gone: %w", i.Path(), err)
	}
	return gone, nil
}

func hasKey(io *rados.IOContext, object, key string) (bool, error) {
	// A prefix may be that of longer keys as well.
	keys, err := io.GetOmapValues(object, "", key, keysAtOnce)
	if err != nil && !missing(err) {
		return false, failure("read omap of "+object, "", err)
	}
	_, found := keys[key]
	return found, nil
}
