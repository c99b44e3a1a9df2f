package volumes

import (
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

func withImage(ioctx *rados.IOContext, name string, work func(*rbd.Image) error) error {
	image, err := rbd.OpenImage(ioctx, name, rbd.NoSnapshot)
	if err != nil {
		return fmt.Errorf("opening image %s: %w", name, err)
	}
	if err := errors.Join(work(image), image.Close()); err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	return nil
}

func imageID(ioctx *rados.IOContext, name string) (id string, err error) {
	err = withImage(ioctx, name, func(image *rbd.Image) error {
		id, err = image.GetId()
		return err
	})
	return id, err
}

func setTags(ioctx *rados.IOContext, name string, tags map[string]string) error {
	return withImage(ioctx, name, func(image *rbd.Image) error { return setMetadata(image, tags) })
}

// setMetadata removes keys with an empty value.
func setMetadata(image *rbd.Image, values map[string]string) error {
	for key, value := range values {
		if value != "" {
			if err := image.SetMetadata(key, value); err != nil {
				return fmt.Errorf("setting %s: %w", key, err)
			}
			continue
		}
		if err := image.RemoveMetadata(key); err != nil && !errors.Is(err, rbd.ErrNotFound) {
			return fmt.Errorf("removing %s: %w", key, err)
		}
	}
	return nil
}

// unset is metadata that removes keys.
func unset(tags map[string]string) map[string]string {
	out := map[string]string{}
	for key := range tags {
		out[key] = ""
	}
	return out
}

func createSnapshot(ioctx *rados.IOContext, image, snapshot string) error {
	return withImage(ioctx, image, func(image *rbd.Image) error {
		_, err := image.CreateSnapshot(snapshot)
		return err
	})
}

// removeSnapshot moves a snapshot that has a clone into the image's trash namespace.
func removeSnapshot(ioctx *rados.IOContext, image, snapshot string) error {
	return withImage(ioctx, image, func(image *rbd.Image) error { return image.GetSnapshot(snapshot).Remove() })
}

// origin is a snapshot that is cloned.
type origin struct {
	ioctx           *rados.IOContext
	image, snapshot string
}

func clone(from origin, to *rados.IOContext, name string, class Class, format uint64) error {
	options, err := class.options(format)
	if err != nil {
		return err
	}
	defer options.Destroy()
	if err := rbd.CloneImage(from.ioctx, from.image, from.snapshot, to, name, options); err != nil {
		return fmt.Errorf("cloning %s@%s to %s: %w", from.image, from.snapshot, name, err)
	}
	return nil
}
