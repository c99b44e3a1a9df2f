package volumes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

// Crash is how far ceph-csi had come with a clone when it was killed.
type Crash int

// The four points at which a killed CreateVolume from a volume was seen.
const (
	// CrashReserved has only the journal, without an image's ID.
	CrashReserved Crash = iota
	// CrashTemp also has the intermediate image, without a snapshot or tags.
	CrashTemp
	// CrashUntagged also has the clone without tags, and a snapshot that it was made by.
	CrashUntagged
	// CrashInherited has the intermediate image with its source's tags; it was never seen, but
	// lies between two steps of ceph-csi.
	CrashInherited
)

// CloneImage makes a volume of a volume, which may be another cluster's.
func (c *Cluster) CloneImage(source *Image, claim string) (*Image, error) {
	return c.CloneImageTo(source, source.Class, claim)
}

// CloneImageTo is CloneImage where the clone is of another class.
func (c *Cluster) CloneImageTo(source *Image, class Class, claim string) (*Image, error) {
	i, ioctx, err := c.reserveImage(class, claim)
	if err != nil {
		return nil, err
	}
	if err := i.makeTemp(ioctx, source); err != nil {
		return i, err
	}
	if err := i.dropTempTags(ioctx, source); err != nil {
		return i, err
	}
	return i, i.cloneTemp(ioctx)
}

func (i *Image) cloneTemp(ioctx *rados.IOContext) error {
	if err := cloneThrough(ioctx, i.Temp(), i.Name, i.Name, i.Class); err != nil {
		return err
	}
	return i.complete(ioctx)
}

// UnfinishedClone is what a crash in CloneImage leaves.
func (c *Cluster) UnfinishedClone(source *Image, claim string, crash Crash) (*Image, error) {
	i, ioctx, err := c.reserveImage(source.Class, claim)
	if err != nil || crash == CrashReserved {
		return i, err
	}
	if err := i.makeTemp(ioctx, source); err != nil || crash == CrashInherited {
		return i, err
	}
	if err := i.dropTempTags(ioctx, source); err != nil || crash == CrashTemp {
		return i, err
	}
	if err := createSnapshot(ioctx, i.Temp(), i.Name); err != nil {
		return nil, err
	}
	if err := clone(origin{ioctx, i.Temp(), i.Name}, ioctx, i.Name, source.Class, 2); err != nil {
		return nil, err
	}
	return i, i.readID(ioctx)
}

func (i *Image) makeTemp(ioctx *rados.IOContext, source *Image) error {
	if err := cloneThrough(ioctx, source.Name, i.Temp(), i.Temp(), Class{Features: copied}); err != nil {
		return err
	}
	id, err := imageID(ioctx, i.Temp())
	i.cluster.note(id)
	return err
}

func (i *Image) dropTempTags(ioctx *rados.IOContext, source *Image) error {
	return withImage(ioctx, i.Temp(), func(image *rbd.Image) error { return setMetadata(image, unset(source.request.tags)) })
}

// Delete is DeleteVolume. The image goes at once when it has no snapshots or clones; else into the
// trash, where the mgr tries to remove it again and again. A clone's intermediate image goes the
// same way before it.
func (i *Image) Delete() error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	if err := i.deleteTemp(ioctx); err != nil {
		return err
	}
	if err := i.cluster.ceph.discard(i.Class.Place, i.Name); err != nil {
		return fmt.Errorf("deleting volume %s: %w", i.Claim, err)
	}
	return volumeJournal.release(ioctx, i.request)
}

func (i *Image) deleteTemp(ioctx *rados.IOContext) error {
	names, err := rbd.GetImageNames(ioctx)
	if err != nil || !slices.Contains(names, i.Temp()) {
		return err
	}
	return i.cluster.ceph.discard(i.Class.Place, i.Temp())
}

// discard moves an image into the trash and tells the mgr to remove it.
func (c *Ceph) discard(p Place, name string) error {
	ioctx, err := c.at(p)
	if err != nil {
		return err
	}
	id, err := imageID(ioctx, name)
	if err != nil {
		return err
	}
	if err := rbd.GetImage(ioctx, name).Trash(0); err != nil {
		return fmt.Errorf("moving %s into the trash: %w", name, err)
	}
	return c.removeTrash(ioctx, p, id)
}

// removeTrash does itself what the mgr does not do for its user.
func (c *Ceph) removeTrash(ioctx *rados.IOContext, p Place, id string) error {
	_, err := c.command("rbd task add trash remove", map[string]any{"image_id_spec": p.String() + "/" + id})
	if err != nil && strings.Contains(err.Error(), "access denied") {
		return rbd.TrashRemove(ioctx, id, true)
	}
	return err
}
