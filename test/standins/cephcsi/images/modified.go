package images

import (
	"context"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// limits are what a VolumeAttributesClass may say of krbd, and the keys of the image under which ceph-csi 3.18 keeps it for
// the nodes: https://github.com/ceph/ceph-csi/blob/devel/internal/rbd/cgroup_qos.go
var limits = map[string]string{
	"maxReadIops":  ".rbd.csi.ceph.com/cgroup_qos_max_read_iops",
	"maxWriteIops": ".rbd.csi.ceph.com/cgroup_qos_max_write_iops",
	"maxReadBps":   ".rbd.csi.ceph.com/cgroup_qos_max_read_bps",
	"maxWriteBps":  ".rbd.csi.ceph.com/cgroup_qos_max_write_bps",
}

// ControllerModifyVolume notes the limits of a class.
func (c *Controller) ControllerModifyVolume(_ context.Context, request *csi.ControllerModifyVolumeRequest) (*csi.ControllerModifyVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	return &csi.ControllerModifyVolumeResponse{}, c.change(request.GetVolumeId(), request.GetSecrets(), func(image *volumes.Image, _ volumes.ImageInfo) error {
		if err := checkLimits(request.GetMutableParameters()); err != nil {
			return err
		}
		return limit(image, request.GetMutableParameters())
	})
}

func checkLimits(parameters map[string]string) error {
	for parameter, value := range parameters {
		if limits[parameter] == "" {
			return status.Errorf(codes.InvalidArgument, "unsupported parameter %s", parameter)
		}
		if number, err := strconv.ParseInt(value, 10, 64); value != "" && (err != nil || number <= 0) {
			return status.Errorf(codes.InvalidArgument, "invalid value for %s: %s, must be a positive integer", parameter, value)
		}
	}
	return nil
}

// limit takes away what the parameters do not say.
func limit(image *volumes.Image, parameters map[string]string) error {
	keys := map[string]string{}
	for parameter, key := range limits {
		keys[key] = parameters[parameter]
	}
	return internal(image.SetMetadata(keys))
}
