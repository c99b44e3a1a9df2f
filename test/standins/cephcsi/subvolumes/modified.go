package subvolumes

import (
	"context"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// pin begins what a VolumeAttributesClass may say, such as mds-pin-export: https://github.com/ceph/ceph-csi/pull/6390
const pin = "mds-pin-"

// ControllerModifyVolume has an MDS serve the subvolume, or several in a way that the class says.
func (c *Controller) ControllerModifyVolume(_ context.Context, request *csi.ControllerModifyVolumeRequest) (*csi.ControllerModifyVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	return &csi.ControllerModifyVolumeResponse{}, c.change(request.GetVolumeId(), request.GetSecrets(), func(volume *volumes.Subvolume, _ string) error {
		if err := checkPin(request.GetMutableParameters()); err != nil {
			return err
		}
		return pinned(volume, request.GetMutableParameters())
	})
}

func checkPin(parameters map[string]string) error {
	if len(parameters) > 1 {
		return status.Error(codes.InvalidArgument, "the parameters "+pin+"* are mutually exclusive")
	}
	for parameter := range parameters {
		if !strings.HasPrefix(parameter, pin) {
			return status.Errorf(codes.InvalidArgument, "unsupported parameter %s", parameter)
		}
	}
	return nil
}

// pinned asks for the pin of the parameters, if there is one.
func pinned(volume *volumes.Subvolume, parameters map[string]string) error {
	for parameter, setting := range parameters {
		if err := volume.Pin(strings.TrimPrefix(parameter, pin), setting); err != nil {
			return internal(err)
		}
	}
	return nil
}
