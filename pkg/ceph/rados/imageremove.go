//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	// notifyTimeout is how long a client has to show that it lives. OSDs count in seconds.
	notifyTimeout = 3 * time.Second
	// notifiesAtOnce is few, because each dead client takes notifyTimeout.
	notifiesAtOnce = 4
)

// ImageUsers finds out which of these images of one RADOS namespace somebody has open for writing,
// or has mapped. It sends what librbd and the kernel have understood from the first: an empty
// notification, which says that the header may have changed. Whoever lives reads it again and
// answers; who died less than 30 s ago does not.
func (c *Conn) ImageUsers(ctx context.Context, pool, namespace string, ids []string) (map[string]ceph.ImageUse, error) {
	type used struct {
		id  string
		use ceph.ImageUse
	}
	found := make(chan used, len(ids))
	err := inParallel(ctx, c, slices.Collect(slices.Chunk(ids, notifiesAtOnce)), func(ctx context.Context, chunk []string) error {
		_, err := in(ctx, c, pool, namespace, func(io *rados.IOContext) (struct{}, error) {
			for _, id := range chunk {
				use, err := usersOf(io, id)
				if err != nil {
					return struct{}{}, err
				}
				if len(use.Clients) > 0 {
					found <- used{id, use}
				}
			}
			return struct{}{}, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking who uses images in %s: %w", pool+"/"+namespace, err)
	}
	close(found)
	out := map[string]ceph.ImageUse{}
	for u := range found {
		out[u.id] = u.use
	}
	return out, nil
}

func usersOf(io *rados.IOContext, id string) (ceph.ImageUse, error) {
	acks, silent, err := io.NotifyWithTimeout(headerPrefix+id, nil, notifyTimeout)
	if missing(err) {
		return ceph.ImageUse{}, nil
	}
	if err != nil && len(acks)+len(silent) == 0 {
		return ceph.ImageUse{}, failure("notify", "", err)
	}
	if len(acks)+len(silent) == 0 {
		return ceph.ImageUse{}, nil
	}
	use := ceph.ImageUse{Alive: len(acks) > 0}
	err = withImage(io, id, rbd.OpenImageByIdReadOnly, func(image *rbd.Image) error {
		watchers, err := image.ListWatchers()
		for _, w := range watchers {
			use.Clients = append(use.Clients, w.Addr)
		}
		return imageFailure("watchers", err)
	})
	if errors.Is(err, ceph.ErrNotFound) {
		// Not even the trash names it any more. Who had opened it before uses it all the same, and is known by number.
		for _, a := range acks {
			use.Clients = append(use.Clients, fmt.Sprintf("client.%d", a.NotifierID))
		}
		for _, s := range silent {
			use.Clients = append(use.Clients, fmt.Sprintf("client.%d", s.NotifierID))
		}
		return use, nil
	}
	return use, err
}

// SetImageMetadata writes a key into an image, in the trash or not.
func (c *Conn) SetImageMetadata(ctx context.Context, i ceph.RBDImage, key, value string) error {
	return c.change(ctx, i, "marking", func(io *rados.IOContext) error {
		return withImage(io, i.ID, rbd.OpenImageById, func(image *rbd.Image) error {
			return imageFailure("image-meta set", image.SetMetadata(key, value))
		})
	})
}

// RemoveImageSnapshots removes user snapshots of an image, in the trash or not, protected or not.
// Clones of format 2 keep what they need.
func (c *Conn) RemoveImageSnapshots(ctx context.Context, i ceph.RBDImage, snapshots []ceph.ImageSnapshot) error {
	return c.change(ctx, i, "removing the snapshots of", func(io *rados.IOContext) error {
		return withImage(io, i.ID, rbd.OpenImageById, func(image *rbd.Image) error {
			for _, s := range snapshots {
				snapshot := image.GetSnapshot(s.Name)
				if s.Protected {
					// EINVAL: it is not protected any more.
					if err := imageFailure("snap unprotect", snapshot.Unprotect()); err != nil && ceph.Errno(err) != syscall.EINVAL {
						return err
					}
				}
				if err := imageFailure("snap rm", snapshot.Remove()); err != nil && !errors.Is(err, ceph.ErrNotFound) {
					return err
				}
			}
			return nil
		})
	})
}

// TrashImage moves an image to the trash of its pool, or finishes a move that was cut off.
func (c *Conn) TrashImage(ctx context.Context, i ceph.RBDImage) error {
	return c.change(ctx, i, "moving to the trash", func(io *rados.IOContext) error {
		move := func() error { return imageFailure("trash mv", rbd.GetImage(io, i.Name).Trash(0)) }
		err := move()
		if errors.Is(err, ceph.ErrNotFound) && c.removes {
			// So says librbd, too, where there was no trash yet and the pool is full.
			if err := makeTrash(io); err != nil {
				return err
			}
			err = move()
		}
		if !errors.Is(err, ceph.ErrNotFound) {
			return err
		}
		// An attempt whose answer was lost may have moved it.
		switch inTrash, otherErr := hasKey(io, imageTrash, ceph.ImageKeyID+i.ID); {
		case otherErr != nil:
			return otherErr
		case inTrash:
			return nil
		}
		return err
	})
}

// makeTrash makes the object of a pool's trash, where there is none.
func makeTrash(io *rados.IOContext) error {
	op := rados.CreateWriteOp()
	defer op.Release()
	op.Create(rados.CreateIdempotent)
	if err := op.Operate(io, imageTrash, evenIfFull); err != nil {
		return failure("create "+imageTrash, "", err)
	}
	return nil
}

// RemoveTrash removes an image that is in the trash, and returns when it is gone. One that is gone
// already is no error.
func (c *Conn) RemoveTrash(ctx context.Context, i ceph.RBDImage) error {
	return c.change(ctx, i, "removing from the trash", func(io *rados.IOContext) error {
		return unlessGone(imageFailure("trash rm", rbd.TrashRemove(io, i.ID, true)))
	})
}

// QueueTrashRemoval has the mgr remove an image that is in the trash. It goes on when nobody waits
// for it, and tries again for as long as the image has children.
func (c *Conn) QueueTrashRemoval(ctx context.Context, i ceph.RBDImage) error {
	spec := i.Pool + "/" + i.ID
	if i.Namespace != "" {
		spec = i.Pool + "/" + i.Namespace + "/" + i.ID
	}
	if _, err := c.mgr(ctx, "rbd task add trash remove", arguments{"image_id_spec": spec}); err != nil {
		return fmt.Errorf("queueing the removal of image %s: %w", i.Path(), err)
	}
	return nil
}

// RemoveImageGroup removes the snapshots of a group, takes its images out, those in the trash
// too, and removes it.
func (c *Conn) RemoveImageGroup(ctx context.Context, g ceph.RBDGroup, members []ceph.RBDImage) error {
	_, err := in(ctx, c, g.Pool, g.Namespace, func(io *rados.IOContext) (struct{}, error) {
		for _, snapshot := range g.Snapshots {
			if err := unlessGone(imageFailure("group snap rm", rbd.GroupSnapRemove(io, g.Name, snapshot))); err != nil {
				return struct{}{}, err
			}
		}
		for _, member := range members {
			if err := leaveGroup(c, io, g, member); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, unlessGone(imageFailure("group rm", rbd.GroupRemove(io, g.Name)))
	})
	if err != nil {
		return fmt.Errorf("removing image group %s/%s: %w", g.Pool, g.Name, err)
	}
	return nil
}

// leaveGroup takes an image out of a group; the image may be in another pool or namespace.
func leaveGroup(c *Conn, group *rados.IOContext, g ceph.RBDGroup, member ceph.RBDImage) error {
	io, err := c.ioContext(c.conn, member.Pool)
	if err != nil {
		return err
	}
	defer io.Destroy()
	io.SetNamespace(member.Namespace)
	return unlessGone(imageFailure("group image rm", rbd.GroupImageRemoveByID(group, g.Name, io, member.ID)))
}

// withImage opens an image by its ID, in the trash or not, and closes it after work.
func withImage(io *rados.IOContext, id string, open func(io *rados.IOContext, id, snapshot string) (*rbd.Image, error), work func(*rbd.Image) error) error {
	image, err := open(io, id, rbd.NoSnapshot)
	if err != nil {
		return imageFailure("open", err)
	}
	return errors.Join(work(image), imageFailure("close", image.Close()))
}

// imageFailure is failure for what librbd does.
func imageFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	return failure("rbd "+what, "", err)
}

// unlessGone: what is gone already needs no removal.
func unlessGone(err error) error {
	if errors.Is(err, ceph.ErrNotFound) {
		return nil
	}
	return err
}

// change runs work where the image is.
func (c *Conn) change(ctx context.Context, i ceph.RBDImage, what string, work func(*rados.IOContext) error) error {
	_, err := in(ctx, c, i.Pool, i.Namespace, func(io *rados.IOContext) (struct{}, error) { return struct{}{}, work(io) })
	if err != nil {
		return fmt.Errorf("%s image %s: %w", what, i.Path(), err)
	}
	return nil
}
