package access

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Look fails where a volume is not there for the user that the secrets of a call carry.
type Look func(handle string, secrets map[string]string) error

// Publish lets a node have a volume that its user sees, as ceph-csi 3.15 and later.
func Publish(request *csi.ControllerPublishVolumeRequest, look Look) (*csi.ControllerPublishVolumeResponse, error) {
	if request.GetVolumeId() == "" || request.GetNodeId() == "" || request.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume ID, node ID and volume capability cannot be empty")
	}
	return &csi.ControllerPublishVolumeResponse{}, look.unlessBare(request.GetVolumeId(), request.GetSecrets())
}

// Unpublish looks as ceph-csi does, which fences a node that is out of service.
func Unpublish(request *csi.ControllerUnpublishVolumeRequest, look Look) (*csi.ControllerUnpublishVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	err := look.unlessBare(request.GetVolumeId(), request.GetSecrets())
	if status.Code(err) == codes.NotFound {
		err = nil
	}
	return &csi.ControllerUnpublishVolumeResponse{}, err
}

// unlessBare leaves out PersistentVolumes that name no Secret to publish with, as those of older releases.
func (l Look) unlessBare(handle string, secrets map[string]string) error {
	if len(secrets) == 0 {
		return nil
	}
	return l(handle, secrets)
}
