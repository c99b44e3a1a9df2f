package cephtest

import (
	"fmt"
	"maps"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// volumes are the images, journals and subvolumes of a cluster.
type volumes struct {
	images     map[object]*image
	journals   map[object]map[string]string
	subvolumes map[ceph.SubvolumePlace]*subvolume
}

// object names a RADOS object, or an image, by the ID of its pool: names of pools change.
type object struct {
	pool            int64
	namespace, name string
}

type image struct {
	id      string
	version uint64
	values  map[string]string
	// dataPool has the data; 0 is the image's own.
	dataPool int64
}

type subvolume struct {
	values map[string]string
	// cloning says that it is a clone which is being made.
	cloning bool
}

func newVolumes() volumes {
	return volumes{images: map[object]*image{}, journals: map[object]map[string]string{}, subvolumes: map[ceph.SubvolumePlace]*subvolume{}}
}

// hasSnapshots says that a subvolume that is gone has snapshots.
func (v volumes) hasSnapshots(of ceph.SubvolumePlace) bool {
	for at := range v.subvolumes {
		snapshot := at.Snapshot
		at.Snapshot = ""
		if at == of && snapshot != "" {
			return true
		}
	}
	return false
}

// AddImage adds an image with metadata, given as keys and values, to a pool that exists.
func (c *Cluster) AddImage(at ceph.ImagePlace, metadata ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := fmt.Sprintf("%x", 0xacbd+len(c.volumes.images))
	c.volumes.images[c.object(at.Pool, at.Namespace, at.Name)] = &image{id: id, version: 1, values: pairs(metadata)}
}

// RemoveImage removes an image.
func (c *Cluster) RemoveImage(at ceph.ImagePlace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.volumes.images, c.object(at.Pool, at.Namespace, at.Name))
}

// Image is the metadata of an image; nil when there is none.
func (c *Cluster) Image(at ceph.ImagePlace) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.volumes.images[c.object(at.Pool, at.Namespace, at.Name)]; found != nil {
		return maps.Clone(found.values)
	}
	return nil
}

// SetImageMetadata is what another client does to an image that exists.
func (c *Cluster) SetImageMetadata(at ceph.ImagePlace, key, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.volumes.images[c.object(at.Pool, at.Namespace, at.Name)]
	found.values[key] = value
	found.version++
}

// AddJournal adds an object of ceph-csi's journals, given its keys and values.
func (c *Cluster) AddJournal(pool, namespace, name string, keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes.journals[c.object(pool, namespace, name)] = pairs(keys)
}

// AddSubvolume adds a subvolume or a snapshot with metadata, given as keys and values. A snapshot
// without its subvolume is a retained one.
func (c *Cluster) AddSubvolume(at ceph.SubvolumePlace, metadata ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes.subvolumes[at] = &subvolume{values: pairs(metadata)}
}

// RemoveSubvolume removes a subvolume; its snapshots stay.
func (c *Cluster) RemoveSubvolume(at ceph.SubvolumePlace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.volumes.subvolumes, at)
}

// SetCloning says that a subvolume is a clone which is being made, or no longer.
func (c *Cluster) SetCloning(at ceph.SubvolumePlace, cloning bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes.subvolumes[at].cloning = cloning
}

// Subvolume is the metadata of a subvolume; nil when there is none.
func (c *Cluster) Subvolume(at ceph.SubvolumePlace) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.volumes.subvolumes[at]; found != nil {
		return maps.Clone(found.values)
	}
	return nil
}

func (c *Cluster) object(pool, namespace, name string) object {
	out := object{namespace: namespace, name: name}
	if p := c.pool(pool); p != nil {
		out.pool = p.ID
	}
	return out
}

func pairs(texts []string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(texts); i += 2 {
		out[texts[i]] = texts[i+1]
	}
	return out
}

// checkObjects refuses what the user may not do with the objects of a pool.
func (c *Client) checkObjects(prefix, pool string, write bool) error {
	return c.checkNamespace(prefix, pool, "", write)
}

func (c *Client) checkNamespace(prefix, pool, namespace string, write bool) error {
	p := c.cluster.pool(pool)
	if p == nil {
		return refusal("open pool", syscall.ENOENT, "")
	}
	rights := c.rights.objects(*p, namespace)
	if slices.Contains(c.rights.denied, prefix) || !rights.Read || write && !rights.Write {
		return refusal(prefix, syscall.EPERM, "")
	}
	return nil
}
