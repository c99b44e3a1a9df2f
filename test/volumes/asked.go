package volumes

import (
	"errors"
	"fmt"
	"time"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Request is what a CSI driver is asked for, when it is one that makes the volumes here.
type Request struct {
	// UUID is drawn where it is empty.
	UUID string
	// Name of the request, and Owner, the namespace of its claim.
	Name, Owner string
	// Tags to set on what is made.
	Tags map[string]string
	// Instance is ceph-csi's --instanceid.
	Instance string
}

// On works with a connection of somebody else, who closes it after Release.
func On(conn *rados.Conn) (*Ceph, error) {
	fsid, err := conn.GetFSID()
	if err != nil {
		return nil, err
	}
	return &Ceph{conn: conn, fsid: fsid, asking: make(chan struct{}, mgrWidth), contexts: map[Place]*rados.IOContext{}}, nil
}

// Release is Close without the connection.
func (c *Ceph) Release() {
	for _, ioctx := range c.contexts {
		ioctx.Destroy()
	}
}

// Asked makes what one request asks for, where Cluster's own names come from a seed.
func (c *Ceph) Asked(r Request) *Cluster {
	id := orElse(r.UUID, string(uuid.NewUUID()))
	return &Cluster{ceph: c, Instance: r.Instance, asked: &request{uuid: id, name: r.Name, owner: r.Owner, instance: r.Instance, tags: r.Tags}}
}

// IsMissing tells whether there is no such pool, object, image, subvolume or snapshot.
func IsMissing(err error) bool {
	return errors.Is(err, rados.ErrNotFound) || errors.Is(err, rbd.ErrNotFound)
}

// PoolName is the pool of a number.
func (c *Ceph) PoolName(id int64) (string, error) {
	name, err := c.conn.GetPoolByID(id)
	if err != nil {
		return "", fmt.Errorf("failed to get pool ID %d: %w", id, err)
	}
	return name, nil
}

// Reserved is the uuid that the journal has for the request's volume; empty when there is none.
func (c *Cluster) Reserved(p Place) (string, error) { return c.reserved(volumeJournal, p) }

// ReservedSnapshot is the same for a snapshot.
func (c *Cluster) ReservedSnapshot(p Place) (string, error) { return c.reserved(snapshotJournal, p) }

func (c *Cluster) reserved(j journal, p Place) (string, error) {
	ioctx, err := c.ceph.at(p)
	if err != nil {
		return "", err
	}
	return j.find(ioctx, *c.asked)
}

// found is a request whose journal stands under a uuid already, with what more the journal says.
func (c *Cluster) found(j journal, p Place, uuid string, keys ...string) (request, map[string]string, error) {
	ioctx, err := c.ceph.at(p)
	if err != nil {
		return request{}, nil, err
	}
	entry, err := j.read(ioctx, uuid)
	if err != nil {
		return request{}, nil, err
	}
	tags := map[string]string{tagKey: ""}
	for _, key := range keys {
		tags[key] = ""
	}
	r := request{uuid: uuid, name: entry[j.requestKey], owner: entry[j.ownerKey], instance: c.Instance, tags: tags}
	if c.asked != nil && c.asked.tags != nil {
		r.tags = c.asked.tags
	}
	return r, entry, nil
}

// FindImage is the volume with that uuid, which need not have an image any more.
func (c *Cluster) FindImage(p Place, uuid string) (*Image, error) {
	r, entry, err := c.found(volumeJournal, p, uuid, pvKey, claimKey, claimNamespaceKey, MounterKey)
	if err != nil {
		return nil, err
	}
	name := orElse(entry[volumeJournal.nameKey], defaultVolumePrefix+uuid)
	return &Image{cluster: c, request: r, Class: Class{Place: p}, Name: name, ID: entry[idKey]}, nil
}

// FindImageSnapshot is the snapshot with that uuid, and the name of the image that it was taken of.
func (c *Cluster) FindImageSnapshot(p Place, uuid string) (*ImageSnapshot, string, error) {
	r, entry, err := c.found(snapshotJournal, p, uuid, snapshotKey, snapshotNamespace, snapshotContentKey)
	if err != nil {
		return nil, "", err
	}
	name := orElse(entry[snapshotJournal.nameKey], defaultSnapPrefix+uuid)
	source := &Image{cluster: c, request: request{uuid: uuidOf(entry[sourceKey])}, Class: Class{Place: p}, Name: entry[sourceKey]}
	s := &ImageSnapshot{cluster: c, request: r, Source: source, Name: name, ID: entry[idKey], Group: entry[groupKey]}
	return s, entry[sourceKey], nil
}

// uuidOf is what the name of an image ends with.
func uuidOf(name string) string {
	const length = 36
	return name[max(0, len(name)-length):]
}

// ImageInfo is what an image says of itself.
type ImageInfo struct {
	Bytes, Features uint64
	Created         time.Time
	// Parent is where a clone's data still is; empty for others. ParentInTrash says that it was deleted.
	Parent        string
	ParentInTrash bool
	// Watchers has the one that asks, too.
	Watchers int
	// Snapshots are the names of all, Copies of those that exist for images cloned of them.
	Snapshots, Copies []string
}

// Info is that of the volume's image.
func (i *Image) Info() (ImageInfo, error) { return i.cluster.ceph.imageInfo(i.Class.Place, i.Name) }

// Info is that of the snapshot's image.
func (s *ImageSnapshot) Info() (ImageInfo, error) {
	return s.cluster.ceph.imageInfo(s.Source.Class.Place, s.Name)
}

func (c *Ceph) imageInfo(p Place, name string) (info ImageInfo, err error) {
	ioctx, err := c.at(p)
	if err != nil {
		return info, err
	}
	err = withImage(ioctx, name, func(image *rbd.Image) error {
		stat, err := image.Stat()
		if err != nil {
			return err
		}
		info.Bytes = stat.Size
		if info.Features, err = image.GetFeatures(); err != nil {
			return err
		}
		parent, err := image.GetParent()
		if err != nil && !errors.Is(err, rbd.ErrNotFound) {
			return err
		}
		if err == nil {
			info.Parent, info.ParentInTrash = parent.Image.ImageName, parent.Image.Trash
		}
		created, err := image.GetCreateTimestamp()
		if err != nil {
			return err
		}
		info.Created = time.Unix(created.Sec, created.Nsec)
		watchers, err := image.ListWatchers()
		if err != nil {
			return err
		}
		info.Watchers = len(watchers)
		return info.readSnapshots(image)
	})
	return info, err
}

func (info *ImageInfo) readSnapshots(image *rbd.Image) error {
	snapshots, err := image.GetSnapshotNames()
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		info.Snapshots = append(info.Snapshots, s.Name)
		space, err := image.GetSnapNamespaceType(s.Id)
		if err != nil {
			return err
		}
		if space != rbd.SnapNamespaceTypeTrash {
			continue
		}
		original, err := image.GetSnapTrashNamespace(s.Id)
		if err != nil {
			return err
		}
		info.Copies = append(info.Copies, original)
	}
	return nil
}

// Depth is how many images a clone's data is spread over, beside its own.
func (c *Ceph) Depth(p Place, image string) (int, error) {
	for depth := 0; ; depth++ {
		info, err := c.imageInfo(p, image)
		if IsMissing(err) || err == nil && info.Parent == "" {
			return depth, nil
		}
		if err != nil {
			return depth, err
		}
		image = info.Parent
	}
}

// Flatten has the mgr copy a clone's data.
func (c *Ceph) Flatten(p Place, image string) error {
	_, err := c.command("rbd task add flatten", map[string]any{"image_spec": p.String() + "/" + image})
	return err
}

// Unreserve takes the volume out of the journal.
func (i *Image) Unreserve() error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	return volumeJournal.release(ioctx, i.request)
}

// Remove is Delete, also where the image is gone, or in the trash since an earlier deletion.
func (i *Image) Remove() error {
	if _, err := i.Info(); !IsMissing(err) {
		return i.Delete()
	}
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	if err := i.deleteTemp(ioctx); err != nil {
		return err
	}
	if err := i.cluster.ceph.emptyTrash(i.Class.Place, i.Name); err != nil {
		return err
	}
	return i.Unreserve()
}

// Remove is Delete, also where the image is gone, or in the trash since an earlier deletion.
func (s *ImageSnapshot) Remove() error {
	if _, err := s.Info(); !IsMissing(err) {
		return s.Delete()
	}
	ioctx, err := s.cluster.ceph.at(s.Source.Class.Place)
	if err != nil {
		return err
	}
	if err := s.cluster.ceph.emptyTrash(s.Source.Class.Place, s.Name); err != nil {
		return err
	}
	return snapshotJournal.release(ioctx, s.request)
}

func (c *Ceph) emptyTrash(p Place, name string) error {
	ioctx, err := c.at(p)
	if err != nil {
		return err
	}
	images, err := rbd.GetTrashList(ioctx)
	if err != nil {
		return err
	}
	for _, image := range images {
		if image.Name == name {
			return c.removeTrash(ioctx, p, image.Id)
		}
	}
	return nil
}

// FinishClone goes on where a clone was interrupted after its intermediate image was made. It
// tells whether there was one.
func (i *Image) FinishClone() (bool, error) {
	if _, err := i.cluster.ceph.imageInfo(i.Class.Place, i.Temp()); err != nil {
		if IsMissing(err) {
			return false, nil
		}
		return false, err
	}
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return false, err
	}
	return true, i.cloneTemp(ioctx)
}

// Complete does what a repeated request finds undone: the journal may not know the image's ID, a
// copy may have its source's size, and tags are set again.
func (i *Image) Complete() error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	i.request.tags = i.cluster.asked.tags
	return i.complete(ioctx)
}

// Owner is the namespace of the volume's claim.
func (i *Image) Owner() string { return i.request.owner }
