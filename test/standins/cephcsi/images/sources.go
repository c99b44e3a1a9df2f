package images

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// source is what a volume is made of: a snapshot, a volume or nothing.
type source struct {
	snapshot *volumes.ImageSnapshot
	image    *volumes.Image
	info     volumes.ImageInfo
}

type kind int

const (
	nothing kind = iota
	aSnapshot
	aVolume
)

func (s source) kind() kind {
	switch {
	case s.snapshot != nil:
		return aSnapshot
	case s.image != nil:
		return aVolume
	}
	return nothing
}

// check refuses a volume that is smaller than what it is made of.
func (s source) check(class volumes.Class) error {
	if s.kind() != nothing && class.Bytes < s.info.Bytes {
		return status.Errorf(codes.InvalidArgument, "volume size %d is smaller than source volume size %d", class.Bytes, s.info.Bytes)
	}
	return nil
}

// sourceOf finds it. It is reached with the same user, and may be in another pool.
func (c *Controller) sourceOf(session *access.Session, request *csi.CreateVolumeRequest) (out source, err error) {
	content := request.GetVolumeContentSource()
	id := content.GetSnapshot().GetSnapshotId() + content.GetVolume().GetVolumeId()
	if content == nil {
		return out, nil
	}
	notFound := status.Errorf(codes.NotFound, "%q does not exist", id)
	handle, err := access.ParseHandle(id)
	if err != nil {
		return out, notFound
	}
	pool, err := session.Ceph.PoolName(handle.Location)
	if err != nil {
		return out, internal(err)
	}
	place := volumes.Place{Pool: pool, Namespace: session.RBD.RadosNamespace}
	cluster := session.Ceph.Asked(volumes.Request{Instance: c.InstanceID})
	if content.GetSnapshot() != nil {
		if out.snapshot, _, err = cluster.FindImageSnapshot(place, handle.UUID); err == nil {
			out.info, err = out.snapshot.Info()
		}
	} else if out.image, err = cluster.FindImage(place, handle.UUID); err == nil {
		out.info, err = out.image.Info()
	}
	if volumes.IsMissing(err) {
		return out, notFound
	}
	return out, internal(err)
}

// flattenSource keeps chains of clones, and snapshots of one image, below the limits: near them
// the mgr is asked to copy data, at them the caller has to wait for it.
func (c *Controller) flattenSource(session *access.Session, place volumes.Place, from source) error {
	switch from.kind() {
	case aSnapshot:
		return c.flatten(session.Ceph, place, from.snapshot.Name, 1)
	case aVolume:
		if from.info.Parent != "" && !from.info.ParentInTrash {
			if err := c.flatten(session.Ceph, place, from.info.Parent, 2); err != nil {
				return err
			}
		}
		return c.flattenCopies(session.Ceph, place, from.image.Name, from.info)
	}
	return nil
}

// flatten looks at an image that gets so many levels deeper.
func (c *Controller) flatten(ceph *volumes.Ceph, place volumes.Place, image string, deeper int) error {
	depth, err := ceph.Depth(place, image)
	if err != nil {
		return internal(err)
	}
	if depth < c.HardDepth-deeper && depth < c.SoftDepth-deeper {
		return nil
	}
	if err := ceph.Flatten(place, image); err != nil {
		return internal(err)
	}
	if depth >= c.HardDepth-deeper {
		return status.Errorf(codes.Aborted, "flatten in progress: flatten is in progress for image %s", image)
	}
	return nil
}

// flattenCopies flattens the clones of an image that has too many snapshots for them.
func (c *Controller) flattenCopies(ceph *volumes.Ceph, place volumes.Place, image string, info volumes.ImageInfo) error {
	if len(info.Snapshots) <= c.MinSnapshots {
		return nil
	}
	copies := info.Copies
	if len(info.Snapshots) <= c.MaxSnapshots {
		copies = copies[min(c.MinSnapshots-1, len(copies)):]
	}
	for _, name := range copies {
		if err := ceph.Flatten(place, name); err != nil && !volumes.IsMissing(err) {
			return internal(err)
		}
	}
	if len(info.Snapshots) > c.MaxSnapshots {
		return status.Errorf(codes.ResourceExhausted, "rbd image %s has %d snapshots", image, len(info.Snapshots))
	}
	return nil
}
