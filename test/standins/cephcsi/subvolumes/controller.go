// Package subvolumes is the CephFS driver: what ceph-csi does for filesystems that many nodes share.
package subvolumes

import (
	"context"
	"log"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// Controller is the controller plugin.
type Controller struct {
	access.Publishing
	csi.UnimplementedGroupControllerServer
	locks  access.Locks
	groups groupJournal
}

// NewController returns it.
func NewController(settings access.Settings) *Controller {
	c := &Controller{}
	c.Publishing = access.Publishing{Settings: settings, Named: publisher, Look: func(handle string, secrets map[string]string) error {
		return c.change(handle, secrets, func(*volumes.Subvolume, string) error { return nil })
	}}
	return c
}

// CreateVolume makes a subvolume, or finds the one of an earlier request of the same name.
func (c *Controller) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := checkCreate(request); err != nil {
		return nil, err
	}
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	parameters := request.GetParameters()
	session, err := access.Open(parameters["clusterID"], request.GetSecrets())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	class, filesystem, err := classOf(c.Settings, session, parameters["fsName"], 0)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	class.Prefix, class.DataPool, class.Bytes = parameters["volumeNamePrefix"], parameters["pool"], access.SubvolumeSize(request.GetCapacityRange().GetRequiredBytes())
	cluster := session.Ceph.Asked(volumes.Request{
		Name: request.GetName(), Owner: parameters[access.OwnerKey], Instance: c.InstanceID, Tags: c.VolumeTags(parameters),
	})
	from, err := c.sourceOf(session, request)
	if err != nil {
		return nil, err
	}
	if from.shallow {
		return c.createShallow(cluster, class, filesystem, from, request)
	}
	volume, err := c.make(cluster, class, from)
	if err != nil {
		return nil, err
	}
	path, err := volume.Path()
	if err != nil {
		return nil, internal(err)
	}
	if err := volume.Retag(); err != nil {
		return nil, internal(err)
	}
	if err := pinned(volume, request.GetMutableParameters()); err != nil {
		return nil, err
	}
	return answer(request, filesystem, volume.UUID(), volume.Name, path, int64(class.Bytes)), nil
}

func answer(request *csi.CreateVolumeRequest, filesystem volumes.Filesystem, uuid, name, path string, bytes int64) *csi.CreateVolumeResponse {
	said := access.Context(request.GetParameters())
	said["subvolumeName"], said["subvolumePath"] = name, path
	handle := access.Handle{ClusterID: request.GetParameters()["clusterID"], Location: filesystem.ID, UUID: uuid}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId: handle.String(), CapacityBytes: bytes, VolumeContext: said, ContentSource: request.GetVolumeContentSource(),
	}}
}

// make finds the subvolume of an earlier request, or makes one.
func (c *Controller) make(cluster *volumes.Cluster, class volumes.FileClass, from source) (*volumes.Subvolume, error) {
	volume, err := existing(cluster, class, from)
	if volume != nil || err != nil {
		return volume, internal(err)
	}
	switch {
	case from.snapshot != nil:
		volume, err = cluster.BeginRestore(from.snapshot, class)
	case from.volume != nil:
		volume, err = cluster.BeginClone(from.volume, class)
	default:
		volume, err = cluster.UnfinishedSubvolume(class, "")
	}
	if err != nil {
		if volume != nil {
			log.Print("taking the reservation back: ", volume.Unreserve())
		}
		return nil, internal(err)
	}
	if !from.copied() {
		return volume, nil
	}
	return volume, finishCopy(volume, from, int64(class.Bytes))
}

// existing is the volume of an earlier request; nil when there is none.
func existing(cluster *volumes.Cluster, class volumes.FileClass, from source) (*volumes.Subvolume, error) {
	uuid, err := cluster.AskedSubvolume(class)
	if err != nil || uuid == "" {
		return nil, err
	}
	volume, _, err := cluster.FindSubvolume(class, uuid)
	if err != nil {
		return nil, err
	}
	if from.copied() {
		if err := finishCopy(volume, from, int64(class.Bytes)); !volumes.IsMissing(err) {
			return volume, err
		}
		if from.volume != nil {
			if err := volume.DropCopySource(from.volume); err != nil {
				return nil, err
			}
		}
		return nil, volume.Unreserve()
	}
	info, err := volume.Info()
	if volumes.IsMissing(err) {
		return nil, volume.Unreserve()
	}
	if err == nil && info.Bytes() < int64(class.Bytes) {
		err = status.Errorf(codes.AlreadyExists, "subvolume with the same name (%s) but with different size already exists", volume.Name)
	}
	return volume, err
}

// finishCopy answers as ceph-csi does while the mgr copies: the caller comes again.
func finishCopy(volume *volumes.Subvolume, from source, bytes int64) error {
	state, err := volume.CopyState()
	if err != nil {
		return err
	}
	switch state {
	case "complete":
	case "pending":
		return status.Error(codes.Aborted, "clone from snapshot is pending")
	case "in-progress":
		return status.Error(codes.Aborted, "clone from snapshot is already in progress")
	default:
		if err := volume.Purge(); err != nil {
			return err
		}
		return status.Error(codes.Internal, "clone from snapshot failed: "+state)
	}
	info, err := volume.Info()
	if err == nil && info.Bytes() < bytes {
		err = volume.Expand(uint64(bytes))
	}
	if err == nil && from.volume != nil {
		err = volume.DropCopySource(from.volume)
	}
	return internal(err)
}

func checkCreate(request *csi.CreateVolumeRequest) error {
	parameters := request.GetParameters()
	switch {
	case request.GetName() == "":
		return status.Error(codes.InvalidArgument, "volume Name cannot be empty")
	case len(request.GetVolumeCapabilities()) == 0:
		return status.Error(codes.InvalidArgument, "volume Capabilities cannot be empty")
	case parameters["clusterID"] == "":
		return status.Error(codes.InvalidArgument, "clusterID must be set")
	case parameters["fsName"] == "":
		return status.Error(codes.InvalidArgument, "missing required field fsName")
	case parameters["encrypted"] == "true":
		return status.Error(codes.InvalidArgument, "the stand-in does not encrypt")
	}
	for _, capability := range request.GetVolumeCapabilities() {
		if capability.GetBlock() != nil {
			return status.Error(codes.Unimplemented, "block volume not supported")
		}
		if readOnly(capability) && request.GetVolumeContentSource() == nil {
			return status.Error(codes.InvalidArgument, "readOnly accessMode is supported only with content source")
		}
	}
	return checkPin(request.GetMutableParameters())
}

func readOnly(capability *csi.VolumeCapability) bool {
	mode := capability.GetAccessMode().GetMode()
	return mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY || mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY
}

func internal(err error) error {
	if err == nil || status.Code(err) != codes.Unknown {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}

// classOf asks the mons for the filesystem of a name, or of a number, and adds what config.json
// says.
func classOf(settings access.Settings, session *access.Session, name string, id int64) (volumes.FileClass, volumes.Filesystem, error) {
	filesystem, err := session.Ceph.FilesystemOf(name, id)
	if err != nil {
		return volumes.FileClass{}, filesystem, err
	}
	namespace := session.CephFS.RadosNamespace
	if namespace == "" {
		namespace = settings.RadosNamespaceCephFS
	}
	return volumes.FileClass{
		Filesystem: filesystem.Name, MetadataPool: filesystem.MetadataPool, Group: session.CephFS.SubvolumeGroup, Namespace: namespace,
	}, filesystem, nil
}

// located is what a handle names.
type located struct {
	*access.Session
	cluster *volumes.Cluster
	class   volumes.FileClass
	uuid    string
}

// locate opens it. It is nil where the handle says nothing.
func locate(settings access.Settings, text string, secrets map[string]string) (*located, error) {
	handle, err := access.ParseHandle(text)
	if err != nil {
		return nil, nil
	}
	session, err := access.Open(handle.ClusterID, secrets)
	if err != nil {
		return nil, err
	}
	class, _, err := classOf(settings, session, "", handle.Location)
	if err != nil {
		session.Close()
		if strings.Contains(err.Error(), "not found in Ceph cluster") {
			return nil, nil
		}
		return nil, internal(err)
	}
	return &located{session, session.Ceph.Asked(volumes.Request{Instance: settings.InstanceID}), class, handle.UUID}, nil
}

// DeleteVolume removes the subvolume; one with snapshots stays for them.
func (c *Controller) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	release, err := c.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := locate(c.Settings, request.GetVolumeId(), request.GetSecrets())
	if err != nil || l == nil {
		return &csi.DeleteVolumeResponse{}, err
	}
	defer l.Close()
	volume, backing, err := l.cluster.FindSubvolume(l.class, l.uuid)
	if err != nil {
		return nil, internal(err)
	}
	if backing != "" {
		return &csi.DeleteVolumeResponse{}, internal(l.deleteShallow(backing))
	}
	_, err = volume.Info()
	switch {
	case volumes.IsMissing(err):
		err = volume.Unreserve()
	case err == nil:
		err = volume.Delete()
	}
	return &csi.DeleteVolumeResponse{}, internal(err)
}

// ControllerExpandVolume sets the quota.
func (c *Controller) ControllerExpandVolume(_ context.Context, request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	if request.GetVolumeId() == "" || request.GetCapacityRange() == nil {
		return nil, status.Error(codes.InvalidArgument, "Volume ID and CapacityRange cannot be empty")
	}
	size := access.SubvolumeSize(request.GetCapacityRange().GetRequiredBytes())
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: int64(size)}, c.change(request.GetVolumeId(), request.GetSecrets(), func(volume *volumes.Subvolume, backing string) error {
		if backing != "" {
			return status.Error(codes.InvalidArgument, "cannot expand snapshot-backed volume")
		}
		return volume.Expand(size)
	})
}

func publisher(c access.Cluster) access.Secret { return c.CephFS.Publisher }

// change does work on a volume that is there, while nobody else does; backing is the snapshot of a shallow one.
func (c *Controller) change(handle string, secrets map[string]string, work func(volume *volumes.Subvolume, backing string) error) error {
	release, err := c.locks.Hold(handle)
	if err != nil {
		return err
	}
	defer release()
	l, err := locate(c.Settings, handle, secrets)
	if err != nil {
		return err
	}
	if l == nil {
		return status.Errorf(codes.NotFound, "volume ID %s not found", handle)
	}
	defer l.Close()
	volume, backing, err := l.cluster.FindSubvolume(l.class, l.uuid)
	if err != nil {
		return internal(err)
	}
	return internal(work(volume, backing))
}

// ValidateVolumeCapabilities confirms all but block volumes.
func (c *Controller) ValidateVolumeCapabilities(_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if request.GetVolumeId() == "" || len(request.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "empty volume ID or volume capabilities in request")
	}
	l, err := locate(c.Settings, request.GetVolumeId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, status.Errorf(codes.NotFound, "volume ID %s not found", request.GetVolumeId())
	}
	l.Close()
	for _, capability := range request.GetVolumeCapabilities() {
		if capability.GetBlock() != nil {
			return &csi.ValidateVolumeCapabilitiesResponse{}, nil
		}
	}
	confirmed := &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: request.GetVolumeCapabilities()}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: confirmed}, nil
}
