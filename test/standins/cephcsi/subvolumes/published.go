package subvolumes

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// ControllerPublishVolume lets a node have a volume that its user sees.
func (c *Controller) ControllerPublishVolume(_ context.Context, request *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	if request.GetVolumeId() == "" || request.GetNodeId() == "" || request.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume ID, node ID and volume capability cannot be empty")
	}
	return &csi.ControllerPublishVolumeResponse{}, c.see(request.GetVolumeId(), request.GetSecrets())
}

// ControllerUnpublishVolume looks as ceph-csi does, which fences a node that is out of service.
func (c *Controller) ControllerUnpublishVolume(_ context.Context, request *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	err := c.see(request.GetVolumeId(), request.GetSecrets())
	if status.Code(err) == codes.NotFound {
		err = nil
	}
	return &csi.ControllerUnpublishVolumeResponse{}, err
}

// see fails where the volume is not there for the user. PersistentVolumes of before ceph-csi 3.15 have none.
func (c *Controller) see(handle string, secrets map[string]string) error {
	if len(secrets) == 0 {
		return nil
	}
	return c.change(handle, secrets, func(*volumes.Subvolume, string) error { return nil })
}
