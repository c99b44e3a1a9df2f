package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceph/go-ceph/rbd"
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	mount "k8s.io/mount-utils"
	"k8s.io/utils/exec"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/node"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// Node is the node plugin.
type Node struct {
	csi.UnimplementedNodeServer
	access.Settings
	Topology map[string]string
	locks    access.Locks
}

// devices are not in the driver's own folder: a pod that has that in a second place, for its socket, would
// hold there what the pod before it has mounted.
func (n *Node) devices() devices { return devices{filepath.Join(n.PluginPath, "rbd-devices")} }

// stash is what NodeStageVolume leaves beside a volume: all that later calls know of it.
type stash struct {
	Version   int    `json:"Version"`
	Pool      string `json:"pool"`
	Namespace string `json:"radosNamespace"`
	Image     string `json:"image"`
}

const stashFile = "image-meta.json"

func (s stash) place() volumes.Place { return volumes.Place{Pool: s.Pool, Namespace: s.Namespace} }

func readStash(folder string) (s stash, err error) {
	content, err := os.ReadFile(filepath.Join(folder, stashFile))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(content, &s)
}

// NodeStageVolume gives the image a device, and mounts or binds that.
func (n *Node) NodeStageVolume(ctx context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	if err := node.CheckStage(request); err != nil {
		return nil, err
	}
	release, err := n.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	folder := request.GetStagingTargetPath()
	staged := filepath.Join(folder, request.GetVolumeId())
	if mounted, err := node.Mounted(staged); err != nil || mounted {
		return &csi.NodeStageVolumeResponse{}, internal(err)
	}
	session, image, err := n.find(request)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	place := image.Class.Place
	content, err := json.Marshal(stash{Version: 3, Pool: place.Pool, Namespace: place.Namespace, Image: image.Name})
	if err != nil {
		return nil, internal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, stashFile), content, 0o600); err != nil {
		return nil, internal(err)
	}
	if err := n.stage(ctx, request, session, image, staged); err != nil {
		undo := errors.Join(node.Unbind(staged), n.devices().of(place, image.Name).detach(ctx), os.Remove(filepath.Join(folder, stashFile)))
		log.Print("undoing the staging: ", undo)
		return nil, internal(err)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

// krbd are the features of images that a current kernel maps: all but journaling.
const krbd = 0x1ff &^ rbd.FeatureJournaling

// find refuses images that the kernel would not map.
func (n *Node) find(request *csi.NodeStageVolumeRequest) (*access.Session, *volumes.Image, error) {
	mode := request.GetVolumeCapability().GetAccessMode().GetMode()
	if mode == csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER && request.GetVolumeCapability().GetBlock() == nil {
		return nil, nil, status.Error(codes.InvalidArgument, "rbd: RWX access mode request is only valid for volumes with access type `block`")
	}
	id := request.GetVolumeId()
	session, cluster, place, uuid, err := locate(n.Settings, id, request.GetSecrets())
	if err != nil {
		return nil, nil, status.Errorf(codes.Internal, "error generating volume %s: %v", id, err)
	}
	if session == nil {
		return nil, nil, status.Errorf(codes.Internal, "error generating volume %s: pool or volume ID not found", id)
	}
	image, err := cluster.FindImage(place, uuid)
	info := volumes.ImageInfo{}
	if err == nil {
		info, err = image.Info()
	}
	if err == nil && request.GetVolumeContext()["mounter"] != "rbd-nbd" && info.Features&^supported() != 0 {
		err = errors.New("unsupported krbd Feature")
	}
	if err != nil {
		session.Close()
		return nil, nil, status.Errorf(codes.Internal, "error generating volume %s: %v", id, err)
	}
	return session, image, nil
}

const supportedFeatures = "/sys/bus/rbd/supported_features"

// LoadModule makes the kernel know RBD. ceph-csi's node plugin does so when it starts, and ends when it fails.
func LoadModule() error {
	if _, err := os.Stat(supportedFeatures); err == nil {
		return nil
	}
	return node.LoadModule(context.Background(), "rbd")
}

// supported is what the kernel says, where it has RBD.
func supported() uint64 {
	said, err := os.ReadFile(supportedFeatures)
	if err != nil {
		return krbd
	}
	features, err := strconv.ParseUint(strings.TrimSpace(string(said)), 0, 64)
	if err != nil {
		return krbd
	}
	return features
}

func (n *Node) stage(ctx context.Context, request *csi.NodeStageVolumeRequest, session *access.Session, image *volumes.Image, staged string) error {
	mode := request.GetVolumeCapability().GetAccessMode().GetMode()
	many := mode == csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER || mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
	device := n.devices().of(image.Class.Place, image.Name)
	path, err := device.path()
	if err != nil {
		return err
	}
	if path == "" && !many {
		if err := n.awaitUnused(ctx, image); err != nil {
			return err
		}
	}
	kernel := request.GetVolumeContext()["mounter"] != "rbd-nbd"
	path, err = device.attach(ctx, session, image.Class.Place, image.Name, kernel, mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY)
	if err != nil {
		return err
	}
	if request.GetVolumeCapability().GetBlock() != nil {
		if err := node.StageFile(staged); err != nil {
			return err
		}
		return node.Mounter.MountSensitiveWithoutSystemd(path, staged, "", []string{"_netdev", "bind"}, nil)
	}
	if err := os.Mkdir(staged, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := mountDevice(ctx, path, staged, request); err != nil {
		return err
	}
	resizer := mount.NewResizeFs(exec.New())
	if need, err := resizer.NeedResize(path, staged); err != nil || !need {
		return err
	}
	_, err = resizer.Resize(path, staged)
	return err
}

// watching is how long ceph-csi waits for others to let an image go.
const watching = 25 * time.Second

func (n *Node) awaitUnused(ctx context.Context, image *volumes.Image) error {
	ctx, cancel := context.WithTimeout(ctx, watching)
	defer cancel()
	for {
		info, err := image.Info()
		if err != nil {
			return fmt.Errorf("fail to check rbd image status: (%w)", err)
		}
		if info.Watchers <= 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("rbd image %s/%s is still being used", image.Class.Place, image.Name)
		case <-time.After(time.Second):
		}
	}
}

// mkfsArguments are ceph-csi's.
var mkfsArguments = map[string][]string{
	"ext4": {"-m0", "-Enodiscard,lazy_itable_init=1,lazy_journal_init=1"},
	"xfs":  {"-K", "-m", "reflink=0"},
}

func mountDevice(ctx context.Context, device, target string, request *csi.NodeStageVolumeRequest) error {
	disk := &mount.SafeFormatAndMount{Interface: node.Mounter, Exec: exec.New()}
	format, err := disk.GetDiskFormat(device)
	if err != nil {
		return err
	}
	filesystem := request.GetVolumeCapability().GetMount().GetFsType()
	if format == "" && filesystem == "" {
		// mkfs makes what ceph-csi then cannot read the size of.
		return fmt.Errorf("need resize check failed on devicePath %s and staingPath %s, error: could not parse fs info on given filesystem format: ext2", device, target)
	}
	options := []string{"_netdev"}
	if filesystem == "xfs" {
		options = append(options, "nouuid")
	}
	options = append(options, request.GetVolumeCapability().GetMount().GetMountFlags()...)
	if readOnly(request.GetVolumeCapability().GetAccessMode().GetMode()) {
		options = append(options, "ro")
	}
	if format == "" && !slices.Contains(options, "ro") {
		arguments := mkfsArguments[filesystem]
		if asked := request.GetVolumeContext()["mkfsOptions"]; asked != "" {
			arguments = strings.Fields(asked)
		}
		if _, err := node.Run(ctx, "mkfs."+filesystem, append(slices.Clone(arguments), device)...); err != nil {
			return err
		}
	}
	return disk.FormatAndMount(device, target, filesystem, options)
}

// NodeUnstageVolume takes the mount and the device away.
func (n *Node) NodeUnstageVolume(ctx context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	folder := request.GetStagingTargetPath()
	if err := node.CheckGone(request.GetVolumeId(), folder); err != nil {
		return nil, err
	}
	release, err := n.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	if err := node.Unbind(filepath.Join(folder, request.GetVolumeId())); err != nil {
		return nil, err
	}
	stash, err := readStash(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return &csi.NodeUnstageVolumeResponse{}, nil
	}
	if err != nil {
		return nil, internal(err)
	}
	if err := n.devices().of(stash.place(), stash.Image).detach(ctx); err != nil {
		return nil, internal(err)
	}
	return &csi.NodeUnstageVolumeResponse{}, internal(os.Remove(filepath.Join(folder, stashFile)))
}

// NodePublishVolume binds the staged volume.
func (n *Node) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := node.CheckPublish(request); err != nil {
		return nil, err
	}
	return &csi.NodePublishVolumeResponse{}, node.Bind(filepath.Join(request.GetStagingTargetPath(), request.GetVolumeId()), request)
}

// NodeUnpublishVolume undoes that.
func (n *Node) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := node.CheckGone(request.GetVolumeId(), request.GetTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, node.Unbind(request.GetTargetPath())
}

// NodeExpandVolume grows the filesystem.
func (n *Node) NodeExpandVolume(ctx context.Context, request *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID must be provided")
	}
	if request.GetVolumePath() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume path must be provided")
	}
	release, err := n.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	folder := request.GetStagingTargetPath()
	stash, err := readStash(folder)
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "failed to find image metadata: %v", err)
	}
	path, err := n.devices().of(stash.place(), stash.Image).grow(ctx, access.ImageSize(request.GetCapacityRange().GetRequiredBytes()))
	if err != nil {
		return nil, internal(err)
	}
	if path == "" {
		return nil, status.Errorf(codes.Internal, "failed to get device for stagingtarget path %v", folder)
	}
	if request.GetVolumeCapability().GetBlock() != nil {
		return &csi.NodeExpandVolumeResponse{}, nil
	}
	if _, err := mount.NewResizeFs(exec.New()).Resize(path, filepath.Join(folder, request.GetVolumeId())); err != nil {
		return nil, status.Errorf(codes.Internal, "rbd: resize failed on path %s, error: %v", request.GetVolumePath(), err)
	}
	return &csi.NodeExpandVolumeResponse{}, nil
}

// NodeGetVolumeStats is how full a volume is. Of a block device, ceph-csi 3.16 and later ask Ceph as the user in the Secret to
// publish with, if config.json names one, and tell nothing where they cannot read it.
func (n *Node) NodeGetVolumeStats(ctx context.Context, request *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	if node.IsDevice(request.GetVolumePath()) {
		if _, err := n.Published(ctx, request.GetVolumeId(), publisher); err != nil {
			return nil, err
		}
	}
	return node.Stats(request, true)
}

// NodeGetInfo names the node.
func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.NodeID, AccessibleTopology: &csi.Topology{Segments: n.Topology}}, nil
}
