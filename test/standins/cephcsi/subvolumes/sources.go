package subvolumes

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// source is what a volume is made of: a snapshot, a volume or nothing.
type source struct {
	snapshot *volumes.SubvolumeSnapshot
	volume   *volumes.Subvolume
	info     volumes.SubvolumeInfo
	// shallow says that the volume only shows the snapshot.
	shallow bool
}

func (s source) copied() bool { return s.snapshot != nil || s.volume != nil }

// sourceOf finds it.
func (c *Controller) sourceOf(session *access.Session, request *csi.CreateVolumeRequest) (out source, err error) {
	content := request.GetVolumeContentSource()
	if content == nil {
		return out, nil
	}
	id := content.GetSnapshot().GetSnapshotId() + content.GetVolume().GetVolumeId()
	notFound := status.Errorf(codes.NotFound, "%q does not exist", id)
	handle, err := access.ParseHandle(id)
	if err != nil {
		return out, notFound
	}
	class, _, err := classOf(c.Settings, session, "", handle.Location)
	if err != nil {
		return out, internal(err)
	}
	cluster := session.Ceph.Asked(volumes.Request{Instance: c.InstanceID})
	if content.GetSnapshot() != nil {
		out.snapshot, out.info, err = snapshotOf(cluster, class, handle.UUID)
		out.shallow = slices.ContainsFunc(request.GetVolumeCapabilities(), readOnly) && request.GetParameters()["backingSnapshot"] != "false"
	} else if out.volume, _, err = cluster.FindSubvolume(class, handle.UUID); err == nil {
		out.info, err = out.volume.Info()
	}
	if volumes.IsMissing(err) {
		return out, notFound
	}
	if size := access.SubvolumeSize(request.GetCapacityRange().GetRequiredBytes()); err == nil && out.volume != nil && int64(size) < out.info.Bytes() {
		return out, status.Errorf(codes.InvalidArgument, "cannot clone from volume %s: volume size %d is smaller than source volume size %d", id, size, out.info.Bytes())
	}
	return out, internal(err)
}

// snapshotOf is the one with that uuid, and what its volume is like.
func snapshotOf(cluster *volumes.Cluster, class volumes.FileClass, uuid string) (*volumes.SubvolumeSnapshot, volumes.SubvolumeInfo, error) {
	snapshot, err := cluster.FindSubvolumeSnapshot(class, uuid)
	if err != nil {
		return nil, volumes.SubvolumeInfo{}, err
	}
	if snapshot.Source.Name == "" {
		return nil, volumes.SubvolumeInfo{}, status.Errorf(codes.NotFound, "key not found: no snap source in omap for %q", "csi.snap."+uuid)
	}
	info, err := snapshot.Source.Info()
	if err != nil {
		return snapshot, info, err
	}
	_, err = snapshot.Info()
	return snapshot, info, err
}

// createShallow makes a volume that shows a snapshot.
func (c *Controller) createShallow(cluster *volumes.Cluster, class volumes.FileClass, filesystem volumes.Filesystem, from source, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	uuid, err := cluster.AskedSubvolume(class)
	if err != nil {
		return nil, internal(err)
	}
	var volume *volumes.Shallow
	if uuid != "" {
		volume, err = cluster.FindShallow(from.snapshot, uuid)
	} else {
		volume, err = cluster.Shallow(from.snapshot, "")
	}
	if err != nil {
		return nil, internal(err)
	}
	root, _ := shown(from.snapshot, from.info)
	return answer(request, filesystem, volume.UUID(), volume.Name, root, from.info.Bytes()), nil
}

// deleteShallow takes it back. The snapshot goes with the last one after its own deletion.
func (l *located) deleteShallow(backing string) error {
	handle, err := access.ParseHandle(backing)
	if err != nil {
		return err
	}
	snapshot, err := l.cluster.FindSubvolumeSnapshot(l.class, handle.UUID)
	if err != nil {
		return err
	}
	volume, err := l.cluster.FindShallow(snapshot, l.uuid)
	if err != nil {
		return err
	}
	return volume.Delete()
}
