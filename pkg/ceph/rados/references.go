//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// References reads who still needs the snapshot behind shallow CephFS volumes.
func (c *Conn) References(ctx context.Context, pool, namespace, handle string) (ceph.RefTracker, error) {
	found, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (ceph.RefTracker, error) {
		tracker, _, err := readReferences(io, referencesOf(handle))
		return tracker, err
	})
	if err != nil {
		return ceph.RefTracker{}, fmt.Errorf("reading the references of snapshot %s in pool %q: %w", handle, pool, err)
	}
	return found, nil
}

func referencesOf(handle string) string {
	return ceph.JournalName{Kind: ceph.JournalReferences, Handle: handle}.Object()
}

// readReferences also returns the version of the object that it read.
func readReferences(io *rados.IOContext, object string) (ceph.RefTracker, uint64, error) {
	var count, attribute [16]byte
	n, err := io.Read(object, count[:], 0)
	if err != nil {
		return ceph.RefTracker{}, 0, failure("read "+object, "", err)
	}
	version, err := io.GetLastVersion()
	if err != nil {
		return ceph.RefTracker{}, 0, failure("read "+object, "", err)
	}
	length, err := io.GetXattr(object, ceph.RefTrackerVersionKey, attribute[:])
	if err != nil {
		return ceph.RefTracker{}, 0, failure("read attribute of "+object, "", err)
	}
	keys, err := readOmap(io, object)
	if err != nil {
		return ceph.RefTracker{}, 0, err
	}
	tracker, err := ceph.ParseRefTracker(count[:n], attribute[:length], keys)
	return tracker, version, err
}

// maxReferenceTries is how often somebody else may change the references in between.
const maxReferenceTries = 10

// DropReferences takes shallow volumes, by their names, out of the references of a snapshot, in
// one step with the count. With all, the snapshot goes as well: when nobody but the snapshot itself
// is left then, so does the object. Without the object it does nothing.
func (c *Conn) DropReferences(ctx context.Context, pool, namespace, handle string, volumes []string, all bool) error {
	_, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (struct{}, error) {
		var err error
		for range maxReferenceTries {
			if err = dropReferences(io, handle, volumes, all); !errors.Is(err, ceph.ErrChanged) {
				break
			}
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("changing the references of snapshot %s in pool %q: %w", handle, pool, err)
	}
	return nil
}

func dropReferences(io *rados.IOContext, handle string, volumes []string, all bool) error {
	object := referencesOf(handle)
	tracker, version, err := readReferences(io, object)
	if errors.Is(err, ceph.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	count, gone, _ := tracker.Drop(volumes)
	_, _, others := tracker.Drop(append([]string{handle}, volumes...))
	last := all && !others
	if len(gone) == 0 && !last {
		return nil
	}
	op := rados.CreateWriteOp()
	defer op.Release()
	op.AssertVersion(version)
	if last {
		op.Remove()
	} else {
		op.WriteFull(ceph.EncodeRefCount(count))
		op.RmOmapKeys(gone)
	}
	return changed(op.Operate(io, object, rados.OperationNoFlag), "change "+object)
}
