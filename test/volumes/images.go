package volumes

import (
	"fmt"
	"io"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

// Features of images, as ceph-csi's StorageClasses name them in imageFeatures.
const (
	Layering = rbd.FeatureLayering
	// Exclusive lets a client hold the image: layering and exclusive-lock.
	Exclusive = rbd.FeatureLayering | rbd.FeatureExclusiveLock
	// CephsOwn leaves imageFeatures out; Ceph then takes 61.
	CephsOwn = 0
	// copied is what ceph-csi gives to images behind snapshots and to intermediate clones.
	copied = rbd.FeatureLayering | rbd.FeatureDeepFlatten
)

// Class is what a StorageClass or its clusterID's configuration says about images.
type Class struct {
	Place
	// DataPool holds the images' data; empty means the pool.
	DataPool string
	// Prefix is volumeNamePrefix, and SnapshotPrefix snapshotNamePrefix; empty means ceph-csi's.
	Prefix, SnapshotPrefix string
	Features               uint64
	Encrypted              bool
	// Bytes of an image; 0 means 8 MiB.
	Bytes uint64
}

func (c Class) imageName(uuid string) string { return orElse(c.Prefix, defaultVolumePrefix) + uuid }
func (c Class) snapshotName(uuid string) string {
	return orElse(c.SnapshotPrefix, defaultSnapPrefix) + uuid
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Image is a volume of the RBD driver.
type Image struct {
	cluster *Cluster
	request request
	Class   Class
	// Claim is the PVC's name.
	Claim string
	// Name of the image, and its ID, which stays the same in the trash.
	Name, ID string
}

// PV is its PersistentVolume.
func (i *Image) PV() string { return i.request.name }

// UUID is what its journal entries are found by.
func (i *Image) UUID() string { return i.request.uuid }

// Handle is the PV's volume handle.
func (i *Image) Handle() string { return i.cluster.imageHandle(i.Class.Place, i.request.uuid) }

// Temp is the image between a clone and its source. It exists for clones only.
func (i *Image) Temp() string { return i.Name + "-temp" }

func (c *Cluster) imageHandle(p Place, uuid string) string {
	ioctx, err := c.ceph.at(p)
	if err != nil {
		return ""
	}
	return c.ceph.handle(ioctx.GetPoolID(), uuid)
}

// Image makes a volume.
func (c *Cluster) Image(class Class, claim string) (*Image, error) {
	i, ioctx, err := c.reserveImage(class, claim)
	if err != nil {
		return nil, err
	}
	if err := i.create(ioctx); err != nil {
		return i, err
	}
	return i, i.complete(ioctx)
}

// UnfinishedImage is what a crash right after the image was created leaves: it has no tag, and
// the journal does not know its ID.
func (c *Cluster) UnfinishedImage(class Class, claim string) (*Image, error) {
	i, ioctx, err := c.reserveImage(class, claim)
	if err != nil {
		return nil, err
	}
	if err := i.create(ioctx); err != nil {
		return nil, err
	}
	return i, i.readID(ioctx)
}

// reserveImage writes the journal of a volume to be.
func (c *Cluster) reserveImage(class Class, claim string) (*Image, *rados.IOContext, error) {
	i := &Image{cluster: c, Class: class, Claim: claim, request: c.volumeRequest(claim)}
	i.Name = class.imageName(i.request.uuid)
	ioctx, err := c.ceph.at(class.Place)
	if err != nil {
		return nil, nil, err
	}
	var more map[string]string
	if class.Encrypted {
		more = map[string]string{kmsKey: "default", encryptionTypeKey: "block"}
	}
	return i, ioctx, volumeJournal.reserve(ioctx, i.request, i.Name, more)
}

func (i *Image) create(ioctx *rados.IOContext) error {
	options, err := i.Class.options(0)
	if err != nil {
		return err
	}
	defer options.Destroy()
	if err := rbd.CreateImage(ioctx, i.Name, i.Class.bytes(), options); err != nil {
		return fmt.Errorf("creating image %s/%s: %w", i.Class.Place, i.Name, err)
	}
	if !i.Class.Encrypted {
		return nil
	}
	return withImage(ioctx, i.Name, func(image *rbd.Image) error { return image.SetMetadata(encryptedKey, encryptedValue) })
}

func (c Class) bytes() uint64 {
	if c.Bytes == 0 {
		return 8 << 20
	}
	return c.Bytes
}

// options for creating or cloning. Clones name the format.
func (c Class) options(cloneFormat uint64) (*rbd.ImageOptions, error) {
	options := rbd.NewRbdImageOptions()
	numbers := map[rbd.ImageOption]uint64{}
	if c.Features != CephsOwn {
		numbers[rbd.ImageOptionFeatures] = c.Features
	}
	if cloneFormat != 0 {
		numbers[rbd.ImageOptionCloneFormat] = cloneFormat
	}
	for option, value := range numbers {
		if err := options.SetUint64(option, value); err != nil {
			options.Destroy()
			return nil, fmt.Errorf("image option %d: %w", option, err)
		}
	}
	if c.DataPool == "" {
		return options, nil
	}
	if err := options.SetString(rbd.ImageOptionDataPool, c.DataPool); err != nil {
		options.Destroy()
		return nil, fmt.Errorf("data pool %s: %w", c.DataPool, err)
	}
	return options, nil
}

func (i *Image) readID(ioctx *rados.IOContext) (err error) {
	i.ID, err = imageID(ioctx, i.Name)
	i.cluster.note(i.ID)
	return err
}

// complete is the end of CreateVolume: the journal learns the image's ID, the image gets its tags.
func (i *Image) complete(ioctx *rados.IOContext) error {
	if err := i.readID(ioctx); err != nil {
		return err
	}
	if err := volumeJournal.set(ioctx, i.request.uuid, map[string]string{idKey: i.ID}); err != nil {
		return err
	}
	if err := i.grow(); err != nil {
		return err
	}
	return setTags(ioctx, i.Name, i.request.tags)
}

// grow makes a copy of something smaller as large as was asked for.
func (i *Image) grow() error {
	return i.with(func(image *rbd.Image) error {
		if size, err := image.GetSize(); err != nil || size >= i.Class.Bytes {
			return err
		}
		return image.Resize(i.Class.Bytes)
	})
}

// Expand is ControllerExpandVolume.
func (i *Image) Expand(bytes uint64) error {
	return i.with(func(image *rbd.Image) error { return image.Resize(bytes) })
}

// Write fills the first bytes of the image with data.
func (i *Image) Write(bytes int) error {
	data := make([]byte, bytes)
	copy(data, i.Name)
	return i.with(func(image *rbd.Image) error {
		_, err := image.WriteAt(data, 0)
		return err
	})
}

// SetMetadata sets keys beside the tags; an empty value removes its key. Volumes that were made
// before tagging have none of the tags.
func (i *Image) SetMetadata(values map[string]string) error {
	return i.with(func(image *rbd.Image) error { return setMetadata(image, values) })
}

// Untag takes the tags off, as if the volume had been made before tagging.
func (i *Image) Untag() error {
	return i.SetMetadata(map[string]string{tagKey: "", pvKey: "", claimKey: "", claimNamespaceKey: ""})
}

// Use opens the image for writing, as a node does, until it is closed. Exclusive features let it
// also hold the lock once something was written.
func (i *Image) Use() (io.Closer, error) {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return nil, err
	}
	return rbd.OpenImage(ioctx, i.Name, rbd.NoSnapshot)
}

func (i *Image) with(work func(*rbd.Image) error) error {
	ioctx, err := i.cluster.ceph.at(i.Class.Place)
	if err != nil {
		return err
	}
	return withImage(ioctx, i.Name, work)
}
