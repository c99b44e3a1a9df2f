package subvolumes

import (
	"context"
	"sync"

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
	asked, looked := session.Ceph.Asked(volumes.Request{Name: request.GetName(), Instance: c.InstanceID}), class
	looked.Namespace = c.groups.next(c.RadosNamespaceCephFS, class.Namespace)
	if _, err := asked.ReservedGroup(looked.Journal()); err != nil {
		return nil, internal(err)
	}
	if _, err := asked.AskedGroup(class.Journal()); err != nil {
		return nil, internal(err)
	}
	if err := session.Ceph.Quiesce(class, request.GetName(), members); err != nil {
		return nil, internal(err)
	}
	return nil, status.Error(codes.Unimplemented, "the stand-in takes no snapshots of groups where Ceph can")
}

// groupJournal is the RADOS namespace in which ceph-csi looks for groups. VolumeGroupJournalConfig.Connect in its
// internal/journal copies the one of the call before, and sets that of the call afterwards: a first call looks in
// the one that the program is started with, where users of a cluster with a journal of its own may not look.
type groupJournal struct {
	mu     sync.Mutex
	called bool
	last   string
}

// next is the namespace in which a call for another one looks, of a program that is started with some.
func (j *groupJournal) next(started, asked string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.last
	if !j.called {
		before = started
	}
	j.called, j.last = true, asked
	return before
}
