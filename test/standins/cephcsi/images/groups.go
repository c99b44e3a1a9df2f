package images

import (
	"context"
	"log"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// CreateVolumeGroupSnapshot puts the images into a group for as long as it takes a snapshot of all.
func (c *Controller) CreateVolumeGroupSnapshot(_ context.Context, request *csi.CreateVolumeGroupSnapshotRequest) (*csi.CreateVolumeGroupSnapshotResponse, error) {
	parameters := request.GetParameters()
	if request.GetName() == "" || len(request.GetSourceVolumeIds()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "volume group snapshot Name and source volume ids cannot be empty")
	}
	if parameters["clusterID"] == "" || parameters["pool"] == "" {
		return nil, status.Error(codes.Internal, "required 'pool' option missing in volume group parameters")
	}
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	session, err := access.Open(parameters["clusterID"], request.GetSecrets())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	members, err := c.members(session, request.GetSourceVolumeIds())
	if err != nil {
		return nil, err
	}
	place := volumes.Place{Pool: parameters["pool"], Namespace: session.RBD.RadosNamespace}
	group, err := c.named(session, request.GetName()).AskedGroup(place)
	if err != nil {
		return nil, internal(err)
	}
	if len(group.Members) == 0 {
		if err := c.takeAll(session, group, request.GetName(), members); err != nil {
			log.Print("taking the reservation back: ", group.Unreserve())
			return nil, status.Error(codes.Aborted, err.Error())
		}
	}
	described, err := c.describeGroup(session, group)
	return &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: described}, err
}

func (c *Controller) named(session *access.Session, name string) *volumes.Cluster {
	return session.Ceph.Asked(volumes.Request{Name: name, Instance: c.InstanceID})
}

// members are the images of volumes.
func (c *Controller) members(session *access.Session, ids []string) ([]*volumes.Image, error) {
	var out []*volumes.Image
	for _, id := range ids {
		var image *volumes.Image
		cluster, place, uuid, err := c.within(session, id)
		if err == nil {
			image, err = cluster.FindImage(place, uuid)
		}
		if err == nil {
			_, err = image.Info()
		}
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "failed to find required volume %q for volume group snapshot: %v", id, err)
		}
		out = append(out, image)
	}
	return out, nil
}

// takeAll takes the group's snapshot and clones it. librbd clones such snapshots since 19.2 only; before, the
// clones are of snapshots that are taken one after the other.
func (c *Controller) takeAll(session *access.Session, group *volumes.ImageGroup, name string, members []*volumes.Image) (err error) {
	for _, image := range members {
		info, err := image.Info()
		if err != nil {
			return err
		}
		if err := c.flattenCopies(session.Ceph, image.Class.Place, image.Name, info); err != nil {
			return err
		}
	}
	temporary, err := c.named(session, name+"-vg").AskedGroup(group.Place)
	if err != nil {
		return err
	}
	defer func() {
		if failed := temporary.Dissolve(members); failed != nil {
			log.Print("removing the temporary group: ", failed)
		}
	}()
	if err := temporary.Gather(members); err != nil {
		return err
	}
	if err := temporary.Snapshot(group.Handle()); err != nil {
		return err
	}
	taken := map[string]string{}
	for _, image := range members {
		snapshot, err := c.named(session, group.Handle()+"-"+image.Name).GroupedSnapshot(image, group)
		if err != nil {
			return err
		}
		taken[snapshot.Handle()] = snapshot.Name
	}
	if err := temporary.RemoveSnapshot(group.Handle()); err != nil {
		return err
	}
	return group.Note(taken)
}

func (c *Controller) describeGroup(session *access.Session, group *volumes.ImageGroup) (*csi.VolumeGroupSnapshot, error) {
	described := &csi.VolumeGroupSnapshot{GroupSnapshotId: group.Handle(), CreationTime: timestamppb.New(group.Created), ReadyToUse: true}
	for _, id := range slices.Sorted(maps.Keys(group.Members)) {
		snapshot, err := c.member(session, id)
		if err != nil {
			return nil, internal(err)
		}
		taken, err := snapshot.Info()
		if err != nil {
			return nil, internal(err)
		}
		described.Snapshots = append(described.Snapshots, &csi.Snapshot{
			SnapshotId: id, SourceVolumeId: snapshot.Source.Handle(), GroupSnapshotId: group.Handle(),
			SizeBytes: int64(taken.Bytes), CreationTime: timestamppb.New(taken.Created), ReadyToUse: true,
		})
	}
	return described, nil
}

// member is a snapshot of the group's.
func (c *Controller) member(session *access.Session, id string) (*volumes.ImageSnapshot, error) {
	cluster, place, uuid, err := c.within(session, id)
	if err != nil {
		return nil, err
	}
	snapshot, _, err := cluster.FindImageSnapshot(place, uuid)
	return snapshot, err
}

// within is what a handle names in a cluster that is open.
func (c *Controller) within(session *access.Session, id string) (*volumes.Cluster, volumes.Place, string, error) {
	handle, err := access.ParseHandle(id)
	if err != nil {
		return nil, volumes.Place{}, "", err
	}
	pool, err := session.Ceph.PoolName(handle.Location)
	if err != nil {
		return nil, volumes.Place{}, "", err
	}
	return c.named(session, ""), volumes.Place{Pool: pool, Namespace: session.RBD.RadosNamespace}, handle.UUID, nil
}

// DeleteVolumeGroupSnapshot deletes the snapshots of the group.
func (c *Controller) DeleteVolumeGroupSnapshot(_ context.Context, request *csi.DeleteVolumeGroupSnapshotRequest) (*csi.DeleteVolumeGroupSnapshotResponse, error) {
	release, err := c.locks.Hold(request.GetGroupSnapshotId())
	if err != nil {
		return nil, err
	}
	defer release()
	session, group, err := c.findGroup(request.GetGroupSnapshotId(), request.GetSecrets())
	if err != nil || group == nil {
		return &csi.DeleteVolumeGroupSnapshotResponse{}, err
	}
	defer session.Close()
	for id := range group.Members {
		snapshot, err := c.member(session, id)
		if err != nil {
			return nil, internal(err)
		}
		if err := snapshot.Remove(); err != nil {
			return nil, internal(err)
		}
	}
	return &csi.DeleteVolumeGroupSnapshotResponse{}, internal(group.Unreserve())
}

// GetVolumeGroupSnapshot fails, as in 3.14 to 3.17: of a snapshot that is found by its handle, ceph-csi does not know the
// volume (SourceVolumeID, which rbdSnapshot.ToCSI of internal/rbd/snapshot.go demands).
func (c *Controller) GetVolumeGroupSnapshot(_ context.Context, request *csi.GetVolumeGroupSnapshotRequest) (*csi.GetVolumeGroupSnapshotResponse, error) {
	session, group, err := c.findGroup(request.GetGroupSnapshotId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	if group == nil {
		return nil, status.Errorf(codes.NotFound, "failed to get volume group snapshot with id %q", request.GetGroupSnapshotId())
	}
	session.Close()
	return nil, status.Errorf(codes.Aborted, "failed to convert snapshot of group %q to CSI type: it does not have a source-volume-id set", group.Name)
}

// findGroup is the group of a handle. Both it and the session are nil where the handle says nothing.
func (c *Controller) findGroup(id string, secrets map[string]string) (*access.Session, *volumes.ImageGroup, error) {
	if id == "" {
		return nil, nil, status.Error(codes.InvalidArgument, "volume group snapshot id cannot be empty")
	}
	session, cluster, place, uuid, err := locate(c.Settings, id, secrets)
	if err != nil || session == nil {
		return nil, nil, err
	}
	group, err := cluster.FindGroup(place, uuid)
	if err != nil || group.Name == "" {
		session.Close()
		return nil, nil, internal(err)
	}
	return session, group, nil
}
