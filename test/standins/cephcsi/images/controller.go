// Package images is the RBD driver: what ceph-csi does for block devices.
package images

import (
	"cmp"
	"context"
	"log"
	"strings"

	"github.com/ceph/go-ceph/rbd"
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
	locks access.Locks
}

// NewController returns it.
func NewController(settings access.Settings) *Controller {
	c := &Controller{}
	c.Publishing = access.Publishing{Settings: settings, Named: publisher, Look: func(handle string, secrets map[string]string) error {
		return c.change(handle, secrets, func(*volumes.Image, volumes.ImageInfo) error { return nil })
	}}
	return c
}

// CreateVolume makes an image, or finds the one of an earlier request of the same name.
func (c *Controller) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := checkCreate(request); err != nil {
		return nil, err
	}
	class, err := classOf(request)
	if err != nil {
		return nil, err
	}
	session, err := access.Open(request.GetParameters()["clusterID"], request.GetSecrets())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	class.Namespace = session.RBD.RadosNamespace
	release, err := c.locks.Hold(request.GetName())
	if err != nil {
		return nil, err
	}
	defer release()
	cluster := session.Ceph.Asked(volumes.Request{
		Name: request.GetName(), Owner: request.GetParameters()[access.OwnerKey], Instance: c.InstanceID, Tags: c.tags(request.GetParameters()),
	})
	source, err := c.sourceOf(session, request)
	if err != nil {
		return nil, err
	}
	image, err := existing(cluster, class, source)
	if err != nil {
		return nil, err
	}
	if image == nil {
		if image, err = c.create(session, cluster, class, source); err != nil {
			return nil, err
		}
	}
	info, err := image.Info()
	if err != nil {
		return nil, internal(err)
	}
	if request.GetMutableParameters() != nil {
		if err := limit(image, request.GetMutableParameters()); err != nil {
			return nil, err
		}
	}
	return &csi.CreateVolumeResponse{Volume: describe(request, image, class, info)}, nil
}

func (c *Controller) tags(parameters map[string]string) map[string]string {
	tags := c.VolumeTags(parameters)
	if c.NotesMounters {
		tags[volumes.MounterKey] = cmp.Or(parameters["mounter"], "rbd")
	}
	return tags
}

func describe(request *csi.CreateVolumeRequest, image *volumes.Image, class volumes.Class, info volumes.ImageInfo) *csi.Volume {
	said := access.Context(request.GetParameters())
	said["pool"], said["journalPool"], said["imageName"] = class.Pool, class.Pool, image.Name
	if class.Namespace != "" {
		said["radosNamespace"] = class.Namespace
	}
	return &csi.Volume{
		VolumeId: image.Handle(), CapacityBytes: int64(info.Bytes), VolumeContext: said, ContentSource: request.GetVolumeContentSource(),
	}
}

// existing is the volume of an earlier request; nil when there is none. What it lacks is added.
func existing(cluster *volumes.Cluster, class volumes.Class, from source) (*volumes.Image, error) {
	uuid, err := cluster.Reserved(class.Place)
	if err != nil || uuid == "" {
		return nil, internal(err)
	}
	image, err := cluster.FindImage(class.Place, uuid)
	if err != nil {
		return nil, internal(err)
	}
	image.Class = class
	info, err := image.Info()
	switch {
	case volumes.IsMissing(err):
		finished := false
		if from.image != nil {
			if finished, err = image.FinishClone(); err != nil {
				return nil, internal(err)
			}
		}
		if !finished {
			return nil, internal(image.Unreserve())
		}
		return image, nil
	case err != nil:
		return nil, internal(err)
	case from.kind() == nothing && info.Bytes < class.Bytes:
		return nil, status.Errorf(codes.AlreadyExists, "volume name conflict: image with the same name (%s) but with different size already exists", image.Name)
	}
	return image, internal(image.Complete())
}

// create makes what is there in no form, and takes back what failed.
func (c *Controller) create(session *access.Session, cluster *volumes.Cluster, class volumes.Class, from source) (image *volumes.Image, err error) {
	if err := from.check(class); err != nil {
		return nil, err
	}
	if err := c.flattenSource(session, class.Place, from); err != nil {
		return nil, err
	}
	switch from.kind() {
	case aSnapshot:
		image, err = cluster.Restore(from.snapshot, class, "")
	case aVolume:
		image, err = cluster.CloneImageTo(from.image, class, "")
	default:
		image, err = cluster.Image(class, "")
	}
	if err != nil {
		if image != nil {
			log.Print("taking the reservation back: ", image.Remove())
		}
		return nil, internal(err)
	}
	return image, nil
}

func checkCreate(request *csi.CreateVolumeRequest) error {
	parameters := request.GetParameters()
	switch {
	case request.GetName() == "":
		return status.Error(codes.InvalidArgument, "volume Name cannot be empty")
	case len(request.GetVolumeCapabilities()) == 0:
		return status.Error(codes.InvalidArgument, "volume Capabilities cannot be empty")
	case parameters["clusterID"] == "":
		return status.Error(codes.InvalidArgument, "empty cluster ID to provision volume from")
	case parameters["pool"] == "":
		return status.Error(codes.InvalidArgument, "missing or empty pool name to provision volume from")
	case parameters["encrypted"] == "true":
		return status.Error(codes.InvalidArgument, "the stand-in does not encrypt")
	}
	for _, key := range []string{"dataPool", "radosNamespace", "volumeNamePrefix", "imageFeatures"} {
		if value, given := parameters[key]; given && value == "" {
			return status.Errorf(codes.InvalidArgument, "empty %s parameter", key)
		}
	}
	for _, capability := range request.GetVolumeCapabilities() {
		mode, block := capability.GetAccessMode().GetMode(), capability.GetBlock() != nil
		if readOnly(mode) && request.GetVolumeContentSource() == nil {
			return status.Error(codes.InvalidArgument, "readOnly accessMode is supported only with content source")
		}
		if !block && !readOnly(mode) && (mode == csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER || mode == csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER) {
			return status.Error(codes.InvalidArgument, "multi node access modes are only supported on rbd `block` type volumes")
		}
	}
	return checkLimits(request.GetMutableParameters())
}

func readOnly(mode csi.VolumeCapability_AccessMode_Mode) bool {
	return mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY || mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY
}

// needs are the image features that ceph-csi knows, and what each needs.
var needs = map[string]string{
	rbd.FeatureNameLayering: "", rbd.FeatureNameExclusiveLock: "", rbd.FeatureNameObjectMap: rbd.FeatureNameExclusiveLock,
	rbd.FeatureNameFastDiff: rbd.FeatureNameObjectMap, rbd.FeatureNameJournaling: rbd.FeatureNameExclusiveLock, rbd.FeatureNameDeepFlatten: "",
}

func classOf(request *csi.CreateVolumeRequest) (volumes.Class, error) {
	parameters := request.GetParameters()
	class := volumes.Class{Place: volumes.Place{Pool: parameters["pool"]}, DataPool: parameters["dataPool"], Prefix: parameters["volumeNamePrefix"]}
	class.Bytes = 1 << 30
	if size := request.GetCapacityRange().GetRequiredBytes(); size > 0 {
		class.Bytes = access.ImageSize(size)
	}
	if parameters["imageFeatures"] == "" {
		return class, nil
	}
	names := strings.Split(parameters["imageFeatures"], ",")
	for _, name := range names {
		need, known := needs[name]
		if !known {
			return class, status.Errorf(codes.InvalidArgument, "invalid feature %s", name)
		}
		if need != "" && !strings.Contains(","+parameters["imageFeatures"]+",", ","+need+",") {
			return class, status.Errorf(codes.InvalidArgument, "feature %s requires %s to be set", name, need)
		}
	}
	class.Features = uint64(rbd.FeatureSetFromNames(names))
	return class, nil
}

// internal is how ceph-csi answers what Ceph refused; nil stays nil.
func internal(err error) error {
	if err == nil || status.Code(err) != codes.Unknown {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}

// find is the volume of a handle. Both it and the session are nil where the handle says nothing.
func (c *Controller) find(handle string, secrets map[string]string) (*access.Session, *volumes.Image, error) {
	session, cluster, place, uuid, err := locate(c.Settings, handle, secrets)
	if err != nil || session == nil {
		return nil, nil, err
	}
	image, err := cluster.FindImage(place, uuid)
	if err != nil {
		session.Close()
		return nil, nil, internal(err)
	}
	return session, image, nil
}

// locate opens what a handle names.
func locate(settings access.Settings, text string, secrets map[string]string) (*access.Session, *volumes.Cluster, volumes.Place, string, error) {
	handle, err := access.ParseHandle(text)
	if err != nil {
		return nil, nil, volumes.Place{}, "", nil
	}
	session, err := access.Open(handle.ClusterID, secrets)
	if err != nil {
		return nil, nil, volumes.Place{}, "", err
	}
	pool, err := session.Ceph.PoolName(handle.Location)
	if err != nil {
		session.Close()
		if volumes.IsMissing(err) {
			return nil, nil, volumes.Place{}, "", nil
		}
		return nil, nil, volumes.Place{}, "", internal(err)
	}
	cluster := session.Ceph.Asked(volumes.Request{Instance: settings.InstanceID})
	return session, cluster, volumes.Place{Pool: pool, Namespace: session.RBD.RadosNamespace}, handle.UUID, nil
}

// DeleteVolume moves the image into the trash, which the mgr empties.
func (c *Controller) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "empty volume ID in request")
	}
	release, err := c.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	session, image, err := c.find(request.GetVolumeId(), request.GetSecrets())
	if err != nil || session == nil {
		return &csi.DeleteVolumeResponse{}, err
	}
	defer session.Close()
	info, err := image.Info()
	if err == nil && info.Watchers > 1 {
		err = status.Errorf(codes.Aborted, "rbd %s is still being used", image.Name)
	}
	if err == nil || volumes.IsMissing(err) {
		err = image.Remove()
	}
	return &csi.DeleteVolumeResponse{}, internal(err)
}

// ControllerExpandVolume makes the image larger; the nodes then grow the filesystem.
func (c *Controller) ControllerExpandVolume(_ context.Context, request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	if request.GetCapacityRange() == nil {
		return nil, status.Error(codes.InvalidArgument, "capacityRange cannot be empty")
	}
	size := access.ImageSize(request.GetCapacityRange().GetRequiredBytes())
	err := c.change(request.GetVolumeId(), request.GetSecrets(), func(image *volumes.Image, info volumes.ImageInfo) error {
		size = max(size, info.Bytes)
		if size == info.Bytes {
			return nil
		}
		return image.Expand(size)
	})
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: int64(size), NodeExpansionRequired: request.GetVolumeCapability().GetBlock() == nil}, err
}

func publisher(c access.Cluster) access.Secret { return c.RBD.Publisher }

// change does work on a volume that is there, while nobody else does.
func (c *Controller) change(handle string, secrets map[string]string, work func(*volumes.Image, volumes.ImageInfo) error) error {
	release, err := c.locks.Hold(handle)
	if err != nil {
		return err
	}
	defer release()
	session, image, err := c.find(handle, secrets)
	if err != nil {
		return err
	}
	if session == nil {
		return status.Errorf(codes.NotFound, "volume ID %s not found", handle)
	}
	defer session.Close()
	info, err := image.Info()
	if volumes.IsMissing(err) {
		return status.Errorf(codes.NotFound, "volume ID %s not found", handle)
	}
	if err != nil {
		return internal(err)
	}
	return internal(work(image, info))
}

// ValidateVolumeCapabilities confirms what one node writes.
func (c *Controller) ValidateVolumeCapabilities(_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if request.GetVolumeId() == "" || len(request.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "empty volume ID or volume capabilities in request")
	}
	session, _, err := c.find(request.GetVolumeId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, status.Errorf(codes.NotFound, "volume ID %s not found", request.GetVolumeId())
	}
	session.Close()
	for _, capability := range request.GetVolumeCapabilities() {
		if capability.GetAccessMode().GetMode() != csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER {
			return &csi.ValidateVolumeCapabilitiesResponse{}, nil
		}
	}
	confirmed := &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: request.GetVolumeCapabilities()}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: confirmed}, nil
}
