package subvolumes

import (
	"context"
	"log"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// CreateSnapshot takes a snapshot of the subvolume.
func (c *Controller) CreateSnapshot(_ context.Context, request *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if request.GetName() == "" || request.GetSourceVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "snapshot Name and source Volume ID cannot be empty")
	}
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := locate(c.Settings, request.GetSourceVolumeId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	notFound := status.Errorf(codes.NotFound, "source Volume ID %s not found", request.GetSourceVolumeId())
	if l == nil {
		return nil, notFound
	}
	defer l.Close()
	l.class.SnapshotPrefix = request.GetParameters()["snapshotNamePrefix"]
	volume, backing, err := l.cluster.FindSubvolume(l.class, l.uuid)
	if err != nil {
		return nil, internal(err)
	}
	if backing != "" {
		return nil, status.Error(codes.InvalidArgument, "cannot snapshot a snapshot-backed volume")
	}
	info, err := volume.Info()
	if volumes.IsMissing(err) {
		return nil, notFound
	}
	if err != nil {
		return nil, internal(err)
	}
	snapshot, err := c.take(l, volume, request)
	if err != nil {
		return nil, internal(err)
	}
	taken, err := snapshot.Info()
	if err != nil {
		return nil, internal(err)
	}
	handle, err := snapshot.Handle()
	if err != nil {
		return nil, internal(err)
	}
	return &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{
		SizeBytes: info.Bytes(), SnapshotId: handle, SourceVolumeId: request.GetSourceVolumeId(),
		CreationTime: timestamppb.New(taken.Created()), ReadyToUse: true,
	}}, nil
}

// take is the snapshot of an earlier request, or a new one.
func (c *Controller) take(l *located, volume *volumes.Subvolume, request *csi.CreateSnapshotRequest) (*volumes.SubvolumeSnapshot, error) {
	tags := c.SnapshotTags(request.GetParameters())
	if len(tags) == 1 {
		tags = nil // Told of no VolumeSnapshot, as of a group's, ceph-csi does not tag with the cluster's name either.
	}
	cluster := l.Ceph.Asked(volumes.Request{Name: request.GetName(), Owner: volume.Owner(), Instance: c.InstanceID, Tags: tags})
	uuid, err := cluster.AskedSubvolumeSnapshot(l.class)
	if err != nil {
		return nil, err
	}
	if uuid != "" {
		found, err := cluster.FindSubvolumeSnapshot(l.class, uuid)
		if err != nil {
			return nil, err
		}
		if found.Source.Name != volume.Name {
			return nil, status.Errorf(codes.AlreadyExists, "snapshot name conflict: snapname points to different volume, request name (%s) source name (%s) : saved source name (%s)", request.GetName(), volume.Name, found.Source.Name)
		}
		if _, err := found.Info(); !volumes.IsMissing(err) {
			return found, err
		}
		if err := found.Unreserve(); err != nil {
			return nil, err
		}
	}
	taken, err := cluster.SubvolumeSnapshot(volume, "")
	if err != nil && taken != nil {
		log.Print("taking the reservation back: ", taken.Unreserve())
	}
	return taken, err
}

// DeleteSnapshot removes it, or marks it as deleted while volumes show it.
func (c *Controller) DeleteSnapshot(_ context.Context, request *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	if request.GetSnapshotId() == "" {
		return nil, status.Error(codes.InvalidArgument, "snapshot ID cannot be empty")
	}
	release, err := c.locks.Hold(request.GetSnapshotId())
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := locate(c.Settings, request.GetSnapshotId(), request.GetSecrets())
	if err != nil || l == nil {
		return &csi.DeleteSnapshotResponse{}, err
	}
	defer l.Close()
	snapshot, err := l.cluster.FindSubvolumeSnapshot(l.class, l.uuid)
	if err != nil || snapshot.Source.Name == "" {
		return &csi.DeleteSnapshotResponse{}, internal(err)
	}
	info, err := snapshot.Info()
	switch {
	case volumes.IsMissing(err):
		err = snapshot.Unreserve()
	case err == nil && info.HasPendingClones == "yes":
		err = status.Errorf(codes.FailedPrecondition, "snapshot %s has pending clones", request.GetSnapshotId())
	case err == nil:
		err = snapshot.Delete()
	}
	return &csi.DeleteSnapshotResponse{}, internal(err)
}
