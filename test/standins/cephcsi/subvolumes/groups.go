package subvolumes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// CreateVolumeGroupSnapshot keeps the members still while it takes a snapshot of each, as far as Ceph lets it: before
// 19.2 it keeps nothing still, and ceph-csi leaves its reservation.
func (c *Controller) CreateVolumeGroupSnapshot(ctx context.Context, request *csi.CreateVolumeGroupSnapshotRequest) (*csi.CreateVolumeGroupSnapshotResponse, error) {
	if err := checkGroup(request); err != nil {
		return nil, err
	}
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	clusterID := request.GetParameters()["clusterID"]
	session, err := access.Open(clusterID, request.GetSecrets())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	class, filesystem, err := classOf(c.Settings, session, request.GetParameters()["fsName"], 0)
	if err != nil {
		return nil, internal(err)
	}
	asked, looked := session.Ceph.Asked(volumes.Request{Name: request.GetName(), Instance: c.InstanceID}), class
	looked.Namespace = c.groups.next(c.RadosNamespaceCephFS, class.Namespace)
	if _, err := asked.ReservedGroup(looked.Journal()); err != nil {
		return nil, internal(err)
	}
	members, err := c.membersOf(request)
	if err != nil {
		return nil, internal(err)
	}
	group, err := asked.AskedGroup(class.Journal())
	if err != nil {
		return nil, internal(err)
	}
	handle := access.Handle{ClusterID: clusterID, Location: filesystem.ID, UUID: group.UUID()}
	taken, err := c.takeAll(ctx, request, group, stillness{session.Ceph, request.GetName(), members})
	if err != nil {
		return nil, internal(err)
	}
	for _, snapshot := range taken {
		snapshot.GroupSnapshotId = handle.String()
	}
	return &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: &csi.VolumeGroupSnapshot{
		GroupSnapshotId: handle.String(), Snapshots: taken, CreationTime: timestamppb.Now(), ReadyToUse: true,
	}}, nil
}

func checkGroup(request *csi.CreateVolumeGroupSnapshotRequest) error {
	switch {
	case request.GetName() == "":
		return status.Error(codes.InvalidArgument, "volume group snapshot Name cannot be empty")
	case len(request.GetSourceVolumeIds()) == 0:
		return status.Error(codes.InvalidArgument, "source volume ids cannot be empty")
	case request.GetParameters()["clusterID"] == "":
		return status.Error(codes.InvalidArgument, "missing or empty clusterID")
	case request.GetParameters()["fsName"] == "":
		return status.Error(codes.InvalidArgument, "missing or empty fsName")
	}
	return nil
}

// membersOf are the subvolumes of the volumes, by filesystem.
func (c *Controller) membersOf(request *csi.CreateVolumeGroupSnapshotRequest) (map[string][]string, error) {
	out := map[string][]string{}
	for _, id := range request.GetSourceVolumeIds() {
		l, err := locate(c.Settings, id, request.GetSecrets())
		if err != nil {
			return nil, err
		}
		if l == nil {
			return nil, status.Errorf(codes.Internal, "volume ID %s not found", id)
		}
		volume, _, err := l.cluster.FindSubvolume(l.class, l.uuid)
		l.Close()
		if err != nil {
			return nil, err
		}
		out[l.class.Filesystem] = append(out[l.class.Filesystem], volume.Member())
	}
	return out, nil
}

// takeAll takes the snapshots. Of a request that comes again after all were taken, it only lets the members go on.
func (c *Controller) takeAll(ctx context.Context, request *csi.CreateVolumeGroupSnapshotRequest, group *volumes.ImageGroup, members stillness) (taken []*csi.Snapshot, err error) {
	ids := request.GetSourceVolumeIds()
	before, after := members.hold, members.let
	if len(group.Members) == len(ids) {
		has := slices.Sorted(maps.Keys(group.Members))
		if slices.Sort(ids); !slices.Equal(ids, has) {
			return nil, status.Errorf(codes.InvalidArgument, "source volume ids %v do not match in the existing volume group snapshot %v", ids, has)
		}
		before, after = members.let, func() error { return nil }
	}
	defer func() {
		if err != nil && !errors.As(err, new(underWay)) {
			log.Print("taking the group back: ", errors.Join(c.remove(ctx, group, request.GetSecrets()), members.ask("reset", "QUIESCED")))
		}
	}()
	for _, id := range ids {
		// It may last until the next one.
		if err := before(); err != nil {
			return nil, err
		}
		answer, err := c.CreateSnapshot(ctx, &csi.CreateSnapshotRequest{SourceVolumeId: id, Name: group.Name + "-" + id, Secrets: request.GetSecrets()})
		if err != nil {
			return nil, err
		}
		if err := group.Note(map[string]string{id: answer.GetSnapshot().GetSnapshotId()}); err != nil {
			return nil, err
		}
		taken = append(taken, answer.GetSnapshot())
	}
	return taken, after()
}

// stillness is that of subvolumes, by filesystem, under one name.
type stillness struct {
	ceph *volumes.Ceph
	name string
	of   map[string][]string
}

// underWay is an error for which ceph-csi takes nothing back: the caller comes again.
type underWay string

func (u underWay) Error() string { return string(u) }

// hold comes again until all clients hold still. What lasts for longer than 180 s ends by itself.
func (s stillness) hold() error { return s.ask("", "QUIESCED") }

// let has them go on.
func (s stillness) let() error { return s.ask("release", "RELEASED") }

// ask wants a state of all, which is not there at once.
func (s stillness) ask(operation, want string) error {
	for filesystem, members := range s.of {
		how := map[string]any{}
		if operation != "release" {
			const seconds = json.Number("180.00") // the form that the mgr takes
			how = map[string]any{"members": members, "timeout": seconds, "expiration": seconds}
		}
		if operation != "" {
			how[operation] = true
		}
		state, err := s.ceph.Quiesce(filesystem, s.name, how)
		switch {
		case err != nil:
			return err
		case state == "QUIESCING":
			return underWay("Quiesce operation is in progress")
		case state != want && operation == "release":
			return underWay("quiesce operation is in progress")
		case state != want:
			return fmt.Errorf("quiesce operation is in %s state", state)
		}
	}
	return nil
}

// DeleteVolumeGroupSnapshot deletes the snapshots of the group. ceph-csi has no GetVolumeGroupSnapshot for CephFS.
func (c *Controller) DeleteVolumeGroupSnapshot(ctx context.Context, request *csi.DeleteVolumeGroupSnapshotRequest) (*csi.DeleteVolumeGroupSnapshotResponse, error) {
	if request.GetGroupSnapshotId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume group snapshot id cannot be empty")
	}
	release, err := c.locks.Hold(request.GetGroupSnapshotId())
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := locate(c.Settings, request.GetGroupSnapshotId(), request.GetSecrets())
	if err != nil || l == nil {
		return &csi.DeleteVolumeGroupSnapshotResponse{}, err
	}
	defer l.Close()
	l.class.Namespace = c.groups.next(c.RadosNamespaceCephFS, l.class.Namespace)
	group, err := l.cluster.FindGroup(l.class.Journal(), l.uuid)
	if err == nil {
		err = c.remove(ctx, group, request.GetSecrets())
	}
	return &csi.DeleteVolumeGroupSnapshotResponse{}, internal(err)
}

// remove deletes the snapshots of a group, and with the first one the group: one that has none stays.
func (c *Controller) remove(ctx context.Context, group *volumes.ImageGroup, secrets map[string]string) error {
	for _, id := range group.Members {
		if _, err := c.DeleteSnapshot(ctx, &csi.DeleteSnapshotRequest{SnapshotId: id, Secrets: secrets}); err != nil {
			return err
		}
		if err := group.Unreserve(); err != nil {
			return err
		}
	}
	return nil
}

// groupJournal is the RADOS namespace in which ceph-csi looks for groups. VolumeGroupJournalConfig.Connect in its
// internal/journal copies the one of the call before, and sets that of the call afterwards: a first call looks in
// the one that the program is started with, where users of a cluster with a journal of its own may not look.
type groupJournal struct {
	mu   sync.Mutex
	last string
}

// next is the namespace in which a call for another one looks, of a program that is started with some.
func (j *groupJournal) next(started, asked string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := cmp.Or(j.last, started)
	j.last = asked
	return before
}
