package images

import (
	"context"
	"log"

	"github.com/ceph/go-ceph/rbd"
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// CreateSnapshot clones the image, and takes a snapshot of the clone.
func (c *Controller) CreateSnapshot(_ context.Context, request *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if request.GetName() == "" || request.GetSourceVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "snapshot Name and source Volume ID cannot be empty")
	}
	if prefix, given := request.GetParameters()["snapshotNamePrefix"]; given && prefix == "" {
		return nil, status.Error(codes.InvalidArgument, "empty snapshot name prefix to provision snapshot from")
	}
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	session, image, err := c.find(request.GetSourceVolumeId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	notFound := status.Errorf(codes.NotFound, "source Volume ID %s not found", request.GetSourceVolumeId())
	if session == nil {
		return nil, notFound
	}
	defer session.Close()
	info, err := image.Info()
	if volumes.IsMissing(err) {
		return nil, notFound
	}
	if err != nil {
		return nil, internal(err)
	}
	if info.Features&rbd.FeatureLayering == 0 {
		return nil, status.Errorf(codes.InvalidArgument, "volume(%s) has not snapshot feature(layering)", request.GetSourceVolumeId())
	}
	snapshot, err := c.snapshot(session, image, info, request)
	if err != nil {
		return nil, internal(err)
	}
	taken, err := snapshot.Info()
	if err != nil {
		return nil, internal(err)
	}
	return &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{
		SizeBytes: int64(info.Bytes), SnapshotId: snapshot.Handle(), SourceVolumeId: request.GetSourceVolumeId(),
		CreationTime: timestamppb.New(taken.Created), ReadyToUse: true,
	}}, nil
}

// snapshot is that of an earlier request, or a new one.
func (c *Controller) snapshot(session *access.Session, image *volumes.Image, info volumes.ImageInfo, request *csi.CreateSnapshotRequest) (*volumes.ImageSnapshot, error) {
	image.Class.SnapshotPrefix = request.GetParameters()["snapshotNamePrefix"]
	cluster := session.Ceph.Asked(volumes.Request{
		Name: request.GetName(), Owner: image.Owner(), Instance: c.InstanceID, Tags: c.SnapshotTags(request.GetParameters()),
	})
	uuid, err := cluster.ReservedSnapshot(image.Class.Place)
	if err != nil {
		return nil, err
	}
	if uuid != "" {
		found, source, err := cluster.FindImageSnapshot(image.Class.Place, uuid)
		if err != nil {
			return nil, err
		}
		if source != image.Name {
			return nil, status.Errorf(codes.AlreadyExists, "snapshot name conflict: snapname points to different volume, request name (%s) source name (%s) : saved source name (%s)", request.GetName(), image.Name, source)
		}
		taken, err := found.Info()
		if err == nil && len(taken.Snapshots) > 0 && found.ID != "" {
			return found, c.asked(session, image, found, request)
		}
		if err != nil && !volumes.IsMissing(err) {
			return nil, err
		}
		if err := found.Remove(); err != nil {
			return nil, err
		}
	}
	if err := c.flattenCopies(session.Ceph, image.Class.Place, image.Name, info); err != nil {
		return nil, err
	}
	taken, err := cluster.ImageSnapshot(image, "")
	if err != nil {
		if taken != nil {
			log.Print("taking the reservation back: ", taken.Remove())
		}
		return nil, err
	}
	return taken, c.flatten(session.Ceph, image.Class.Place, taken.Name, 0)
}

// asked is what ceph-csi does with a snapshot that it has already: the tags go to the volume.
func (c *Controller) asked(session *access.Session, image *volumes.Image, found *volumes.ImageSnapshot, request *csi.CreateSnapshotRequest) error {
	if err := c.flatten(session.Ceph, image.Class.Place, found.Name, 0); err != nil {
		return err
	}
	tags := c.SnapshotTags(request.GetParameters())
	delete(tags, access.ClusterKey)
	return image.SetMetadata(tags)
}

// DeleteSnapshot moves the snapshot's image into the trash.
func (c *Controller) DeleteSnapshot(_ context.Context, request *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	if request.GetSnapshotId() == "" {
		return nil, status.Error(codes.InvalidArgument, "snapshot ID cannot be empty")
	}
	release, err := c.locks.Hold(request.GetSnapshotId())
	if err != nil {
		return nil, err
	}
	defer release()
	session, cluster, place, uuid, err := locate(c.Settings, request.GetSnapshotId(), request.GetSecrets())
	if err != nil || session == nil {
		return &csi.DeleteSnapshotResponse{}, err
	}
	defer session.Close()
	snapshot, source, err := cluster.FindImageSnapshot(place, uuid)
	if err != nil || source == "" {
		return &csi.DeleteSnapshotResponse{}, internal(err)
	}
	return &csi.DeleteSnapshotResponse{}, internal(snapshot.Remove())
}
