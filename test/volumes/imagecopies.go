package volumes

import (
	"fmt"

	"github.com/ceph/go-ceph/rbd"
)

// What an administrator makes of a volume with `rbd`. Each inherits all tags and has no journal.

// Copy is `rbd cp`.
func (i *Image) Copy(name string) error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	return i.with(func(image *rbd.Image) error { return image.Copy(ioctx, name) })
}

// DeepCopy is `rbd deep cp`.
func (i *Image) DeepCopy(name string) error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	options := rbd.NewRbdImageOptions()
	defer options.Destroy()
	return i.with(func(image *rbd.Image) error { return image.DeepCopy(ioctx, name, options) })
}

// AdminsSnapshot is the name of the snapshot on the volume that AdminsClone makes for a clone.
func AdminsSnapshot(clone string) string { return "for-" + clone }

// AdminsClone is `rbd snap create`, `rbd snap protect` for format 1, and `rbd clone`. A clone of
// format 1 has no link from its parent but in the object rbd_children.
func (i *Image) AdminsClone(name string, format uint64) error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	snapshot := AdminsSnapshot(name)
	err = i.with(func(image *rbd.Image) error {
		s, err := image.CreateSnapshot(snapshot)
		if err != nil || format != 1 {
			return err
		}
		return s.Protect()
	})
	if err != nil {
		return err
	}
	return clone(origin{ioctx, i.Name, snapshot}, ioctx, name, Class{Features: Layering}, format)
}

// CreateImage is `rbd create`: an image without tags or journal.
func (c *Ceph) CreateImage(p Place, name string) error {
	ioctx, err := c.at(p)
	if err != nil {
		return err
	}
	class := Class{Features: Layering}
	options, err := class.options(0)
	if err != nil {
		return err
	}
	defer options.Destroy()
	if err := rbd.CreateImage(ioctx, name, class.bytes(), options); err != nil {
		return fmt.Errorf("creating image %s/%s: %w", p, name, err)
	}
	return nil
}

// CreateNamespace is `rbd namespace create`.
func (c *Ceph) CreateNamespace(p Place) error {
	ioctx, err := c.at(Place{Pool: p.Pool})
	if err != nil {
		return err
	}
	if err := rbd.NamespaceCreate(ioctx, p.Namespace); err != nil {
		return fmt.Errorf("creating RADOS namespace %s: %w", p, err)
	}
	return nil
}
