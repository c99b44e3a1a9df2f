package tags

import (
	"context"
	"hash/maphash"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// subject is an object of Kubernetes to which a volume or a snapshot in Ceph belongs.
type subject interface {
	// about names the object.
	about() corev1.ObjectReference
	// variable is what of the object its tags depend on and that can change: what says where the
	// volume lies cannot.
	variable() []string
	// place is where the volume lies, as far as the object tells.
	place() driver.Volume
	// leaving says that object or volume are being deleted: nobody needs to find it any more.
	leaving() bool
	// complete says that the tags are as they should be, as far as the informer can tell.
	complete(infraID string, values map[string]string) bool
	// change is what the tags lack. An error is that of the API server.
	change(ctx context.Context, c *Controller, infraID string, values map[string]string) (ceph.MetadataChange, error)
}

// nameOf is such as "PersistentVolume pvc-1".
func nameOf(s subject) string {
	about := s.about()
	return about.Kind + " " + about.Name
}

// key stands for all of an object on which its tags depend.
func (c *Controller) key(s subject) uint64 {
	var hash maphash.Hash
	hash.SetSeed(c.seed)
	hash.WriteString(string(s.about().UID))
	for _, text := range s.variable() {
		hash.WriteByte(0)
		hash.WriteString(text)
	}
	return hash.Sum64()
}

// volumeOf is where the volume lies, with what config.json has for its clusterID.
func (c *Controller) volumeOf(s subject) driver.Volume {
	v := s.place()
	at := c.places.of(v.Cluster())
	v.Namespace, v.Group = at.namespace, at.group
	return v
}

// marked says that the mark is there, for the volume or snapshot with this handle; see ceph.Retained.
func marked(values map[string]string, handle string) bool {
	uuid := uuidOf(handle)
	return values[ceph.TagRetain] == ceph.RetainMark && (uuid == "" || values[ceph.TagRetainOf] == uuid)
}

// uuidOf is empty for a handle of an administrator's making.
func uuidOf(handle string) string {
	parsed, err := ceph.ParseVolumeHandle(handle)
	if err != nil {
		return ""
	}
	return parsed.UUID
}

// fits says that a name may be added beside another one that is there.
func fits(has, value string) bool { return has == "" || has == value }

// lack adds a key that is missing; what is there stays as it is.
func lack(change *ceph.MetadataChange, values map[string]string, key, value string) {
	if values[key] == "" && value != "" {
		change.Set[key] = value
	}
}

// mark adds or removes the mark of what is to outlive the cluster.
func mark(change *ceph.MetadataChange, values map[string]string, retain bool, handle string) {
	wanted := map[string]string{}
	if retain {
		wanted[ceph.TagRetain] = ceph.RetainMark
		if uuid := uuidOf(handle); uuid != "" {
			wanted[ceph.TagRetainOf] = uuid
		}
	}
	for _, key := range []string{ceph.TagRetain, ceph.TagRetainOf} {
		value, has := values[key]
		switch {
		case wanted[key] != "" && value != wanted[key]:
			change.Set[key] = wanted[key]
		case wanted[key] == "" && has:
			change.Remove = append(change.Remove, key)
		}
	}
}
