//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Journals reads all objects of ceph-csi's journals in a pool, in these RADOS namespaces, references
// without their content. Without namespaces it lists the whole pool, since nothing else names them: some
// ten thousand objects per second and more.
func (c *Conn) Journals(ctx context.Context, pool string, namespaces ...string) ([]ceph.JournalPiece, error) {
	namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces)))
	if len(namespaces) == 0 {
		namespaces = []string{rados.AllNamespaces}
	}
	pieces, err := in(ctx, c, pool, "", func(io *rados.IOContext) ([]ceph.JournalPiece, error) {
		var found []ceph.JournalPiece
		var err error
		for i := 0; i < len(namespaces) && err == nil; i++ {
			found, err = listJournals(ctx, io, namespaces[i], found)
		}
		for i := 0; i < len(found) && err == nil; i++ {
			err = readPiece(ctx, io, &found[i])
		}
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the journals in pool %q: %w", pool, err)
	}
	return pieces, nil
}

func listJournals(ctx context.Context, io *rados.IOContext, namespace string, pieces []ceph.JournalPiece) ([]ceph.JournalPiece, error) {
	io.SetNamespace(namespace)
	iter, err := io.Iter()
	if err != nil {
		return nil, failure("list objects", "", err)
	}
	defer iter.Close()
	for iter.Next() {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
		}
		if _, ok := ceph.ParseJournalName(iter.Value()); ok {
			pieces = append(pieces, ceph.JournalPiece{Namespace: iter.Namespace(), Object: iter.Value()})
		}
	}
	if err := iter.Err(); err != nil {
		return nil, failure("list objects", "", err)
	}
	return pieces, nil
}

// readPiece fills in the omap, which stays nil where there is no object.
func readPiece(ctx context.Context, io *rados.IOContext, piece *ceph.JournalPiece) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	io.SetNamespace(piece.Namespace)
	values, err := readOmap(io, piece.Object)
	if values == nil {
		return err
	}
	piece.Omap = texts(values)
	return nil
}

func texts(omap map[string][]byte) map[string]string {
	out := make(map[string]string, len(omap))
	for key, value := range omap {
		out[key] = string(value)
	}
	return out
}

// readOmap returns nil where there is no object.
func readOmap(io *rados.IOContext, object string) (map[string][]byte, error) {
	values, err := io.GetAllOmapValues(object, "", "", keysAtOnce)
	if errors.Is(err, rados.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, failure("read omap of "+object, "", err)
	}
	return values, nil
}

// RemoveJournal removes the journal of one volume, snapshot or group from all places where it was
// found: its objects, then its keys in the directories, which stay. A key that leads to another
// UUID by now stays as well.
func (c *Conn) RemoveJournal(ctx context.Context, pool string, j ceph.Journal) error {
	_, err := in(ctx, c, pool, "", func(io *rados.IOContext) (struct{}, error) {
		return struct{}{}, removeJournal(io, j)
	})
	if err != nil {
		return fmt.Errorf("removing journal %s in pool %q: %w", j.Name().Object(), pool, err)
	}
	return nil
}

func removeJournal(io *rados.IOContext, j ceph.Journal) error {
	for _, namespace := range j.Namespaces {
		io.SetNamespace(namespace)
		if err := io.Delete(j.Name().Object()); err != nil && !missing(err) {
			return failure("remove "+j.Name().Object(), "", err)
		}
	}
	for _, key := range j.Keys {
		io.SetNamespace(key.Namespace)
		value, err := io.GetOmapValues(key.Directory, "", key.Key, keysAtOnce)
		if err != nil && !missing(err) {
			return failure("read omap of "+key.Directory, "", err)
		}
		if now, found := value[key.Key]; !found || !ceph.JournalValueNames(string(now), j.UUID) {
			continue
		}
		if err := io.RmOmapKeys(key.Directory, []string{key.Key}); err != nil && !missing(err) {
			return failure("remove key of "+key.Directory, "", err)
		}
	}
	return nil
}

func missing(err error) bool { return number(err) == -int(syscall.ENOENT) }
