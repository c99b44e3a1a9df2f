package subvolumes

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// CreateVolumeGroupSnapshot comes as far as Ceph lets it: before 19.2 no filesystem can be kept still. ceph-csi
// then leaves its reservation.
func (c *Controller) CreateVolumeGroupSnapshot(_ context.Context, request *csi.CreateVolumeGroupSnapshotRequest) (*csi.CreateVolumeGroupSnapshotResponse, error) {
	parameters := request.GetParameters()
	switch {
	case request.GetName() == "":
		return nil, status.Error(codes.InvalidArgument, "volume group snapshot Name cannot be empty")
	case len(request.GetSourceVolumeIds()) == 0:
		return nil, status.Error(codes.InvalidArgument, "source volume ids cannot be empty")
	case parameters["clusterID"] == "":
		return nil, status.Error(codes.InvalidArgument, "missing or empty clusterID")
	case parameters["fsName"] == "":
		return nil, status.Error(codes.InvalidArgument, "missing or empty fsName")
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
	class, _, err := classOf(c.Settings, session, parameters["fsName"], 0)
	if err != nil {
		return nil, internal(err)
	}
	var members []string
	for _, id := range request.GetSourceVolumeIds() {
		l, err := locate(c.Settings, id, request.GetSecrets())
		if err != nil {
			return nil, internal(err)
		}
		if l == nil {
			return nil, status.Errorf(codes.Internal, "volume ID %s not found", id)
		}
		volume, _, err := l.cluster.FindSubvolume(l.class, l.uuid)
		l.Close()
		if err != nil {
			return nil, internal(err)
		}
		members = append(members, volume.Name)
	}
	if _, err := session.Ceph.Asked(volumes.Request{Name: request.GetName(), Instance: c.InstanceID}).AskedGroup(class.Journal()); err != nil {
		return nil, internal(err)
	}
	if err := session.Ceph.Quiesce(class, request.GetName(), members); err != nil {
		return nil, internal(err)
	}
	return nil, status.Error(codes.Unimplemented, "the stand-in takes no snapshots of groups where Ceph can")
}
