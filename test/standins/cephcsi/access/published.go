package access

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Secret names one of Kubernetes.
type Secret struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Publishing lets nodes have the volumes that a driver's user sees, as ceph-csi 3.15 and later.
type Publishing struct {
	csi.UnimplementedControllerServer
	Settings
	// Named is the Secret in an entry of config.json for PersistentVolumes that name none to publish with.
	Named func(Cluster) Secret
	// Look fails where a volume is not there for the user that the secrets of a call carry.
	Look func(handle string, secrets map[string]string) error
}

// ControllerPublishVolume lets a node have a volume.
func (p Publishing) ControllerPublishVolume(ctx context.Context, request *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	if request.GetVolumeId() == "" || request.GetNodeId() == "" || request.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume ID, node ID and volume capability cannot be empty")
	}
	return &csi.ControllerPublishVolumeResponse{}, p.look(ctx, request.GetVolumeId(), request.GetSecrets())
}

// ControllerUnpublishVolume looks as ceph-csi does, which takes away what it noted of the node. Of a volume that is gone, ceph-csi
// 3.17 says that it failed, which the sanity suite of CSI forbids.
func (p Publishing) ControllerUnpublishVolume(ctx context.Context, request *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID cannot be empty")
	}
	err := p.look(ctx, request.GetVolumeId(), request.GetSecrets())
	if status.Code(err) == codes.NotFound {
		err = nil
	}
	return &csi.ControllerUnpublishVolumeResponse{}, err
}

// look does not where neither the PersistentVolume nor config.json names a Secret.
func (p Publishing) look(ctx context.Context, handle string, secrets map[string]string) error {
	var err error
	if len(secrets) == 0 {
		secrets, err = p.Published(ctx, handle, p.Named)
	}
	if err != nil || secrets == nil {
		return err
	}
	return p.Look(handle, secrets)
}

// Published reads the Secret that config.json names for a volume, with the rights of the pod; nil where it names none, and
// for volumes that ceph-csi has not made.
func (s Settings) Published(ctx context.Context, handle string, named func(Cluster) Secret) (map[string]string, error) {
	h, err := ParseHandle(handle)
	if err != nil {
		return nil, nil
	}
	cluster, err := Find(h.ClusterID)
	if err != nil || named(cluster) == (Secret{}) {
		return nil, nil
	}
	secrets, err := s.Secret(ctx, named(cluster))
	if err != nil {
		return nil, status.Errorf(codes.Internal, "failed to get controller publish secret from k8s: %v", err)
	}
	return secrets, nil
}
