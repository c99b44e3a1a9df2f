//go:build cgo

package rados

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Objects of RBD, in each RADOS namespace of a pool (src/include/rbd_types.h).
const (
	imageDirectory  = "rbd_directory"
	imageTrash      = "rbd_trash"
	imageMirroring  = "rbd_mirroring"
	imageNamespaces = "rbd_namespace"

	mirrorKeyPrefix = "image_"

	// headersAtOnce is how many headers one call reads, one after the other: a goroutine of its
	// own for each would cost more than reading it.
	headersAtOnce = 32
)

// ImageNamespaces lists the RADOS namespaces that RBD knows in a pool, the pool's own, "", first.
func (c *Conn) ImageNamespaces(ctx context.Context, pool string) ([]string, error) {
	keys, err := in(ctx, c, pool, "", func(io *rados.IOContext) (map[string][]byte, error) {
		return readOmap(io, imageNamespaces)
	})
	if err != nil {
		return nil, fmt.Errorf("listing the RADOS namespaces of pool %q: %w", pool, err)
	}
	out := []string{""}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if name, ok := strings.CutPrefix(key, ceph.ImageKeyName); ok {
			out = append(out, name)
		}
	}
	return out, nil
}

// Images reads all images in a RADOS namespace of a pool, those in the trash and what cut-off
// removals left too, sorted by name and ID. It opens none: nobody notices.
func (c *Conn) Images(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDImage, error) {
	images, err := in(ctx, c, pool.Name, namespace, func(io *rados.IOContext) ([]ceph.RBDImage, error) {
		return listImages(io)
	})
	if err == nil {
		for i := range images {
			images[i].Pool, images[i].PoolID, images[i].Namespace = pool.Name, pool.ID, namespace
		}
		err = c.readHeaders(ctx, pool.Name, namespace, images)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the images in %s: %w", strings.TrimSuffix(pool.Name+"/"+namespace, "/"), err)
	}
	return images, nil
}

// listImages joins directory, trash and mirroring by the images' IDs.
func listImages(io *rados.IOContext) ([]ceph.RBDImage, error) {
	byID := map[string]*ceph.RBDImage{}
	at := func(id string) *ceph.RBDImage {
		if byID[id] == nil {
			byID[id] = &ceph.RBDImage{ImageRef: ceph.ImageRef{ID: id}}
		}
		return byID[id]
	}
	directory, err := readOmap(io, imageDirectory)
	if err != nil {
		return nil, err
	}
	trash, err := readOmap(io, imageTrash)
	if err != nil {
		return nil, err
	}
	mirrored, err := readOmap(io, imageMirroring)
	if err != nil {
		return nil, err
	}
	for key, value := range trash {
		id, ok := strings.CutPrefix(key, ceph.ImageKeyID)
		if !ok {
			continue
		}
		entry, err := ceph.ParseTrashEntry(value)
		if err != nil {
			return nil, fmt.Errorf("trash entry %s: %w", id, err)
		}
		image := at(id)
		image.Trash, image.Name = &entry, entry.Name
	}
	for key, value := range directory {
		name, ok := strings.CutPrefix(key, ceph.ImageKeyName)
		if !ok {
			continue
		}
		id, err := ceph.ParseEncodedString(value)
		if err != nil {
			return nil, fmt.Errorf("directory entry %q: %w", name, err)
		}
		image := at(id)
		image.Name, image.Listed = name, true
	}
	var out []ceph.RBDImage
	for id, image := range byID {
		_, image.Mirrored = mirrored[mirrorKeyPrefix+id]
		out = append(out, *image)
	}
	slices.SortFunc(out, func(a, b ceph.RBDImage) int { return strings.Compare(a.Name+" "+a.ID, b.Name+" "+b.ID) })
	return out, nil
}

func (c *Conn) readHeaders(ctx context.Context, pool, namespace string, images []ceph.RBDImage) error {
	return inParallel(ctx, c, slices.Collect(slices.Chunk(images, headersAtOnce)), func(ctx context.Context, chunk []ceph.RBDImage) error {
		_, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (struct{}, error) {
			for i := range chunk {
				omap, err := readOmap(io, headerPrefix+chunk[i].ID)
				if err != nil {
					return struct{}{}, err
				}
				if len(omap) == 0 {
					continue
				}
				if err := chunk[i].AddHeader(omap); err != nil {
					return struct{}{}, fmt.Errorf("image %s: %w", chunk[i].Name, err)
				}
			}
			return struct{}{}, nil
		})
		return err
	})
}

// inParallel works on as many as the connection has room for, and returns the first error.
func inParallel[T any](ctx context.Context, c *Conn, all []T, work func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan T)
	var group sync.WaitGroup
	for range min(cap(c.slots), len(all)) {
		group.Go(func() {
			for item := range queue {
				if ctx.Err() == nil {
					if err := work(ctx, item); err != nil {
						cancel(err)
					}
				}
			}
		})
	}
	for _, item := range all {
		queue <- item
	}
	close(queue)
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
