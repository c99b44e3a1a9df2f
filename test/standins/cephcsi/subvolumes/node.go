package subvolumes

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

// root is a directory to mount, and for a volume that shows a snapshot, where that is below it; keeper has
// its notes.
type root struct {
	path, snapshot string
	keeper         interface{ SetMetadata(map[string]string) error }
}

// NodeStageVolume asks the mgr where the subvolume is, notes there who mounts it, and mounts it.
func (n *Node) NodeStageVolume(ctx context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	if err := node.CheckStage(request); err != nil {
		return nil, err
	}
	release, err := n.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := locate(n.Settings, request.GetVolumeId(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, status.Errorf(codes.Internal, "volume ID %s not found", request.GetVolumeId())
	}
	defer l.Close()
	root, err := l.root(request)
	if err != nil {
		return nil, internal(err)
	}
	target := request.GetStagingTargetPath()
	mounted, err := node.Mounted(target)
	if err == nil && n.NotesUsers {
		err = root.keeper.SetMetadata(map[string]string{".cephfs.csi.ceph.com/userid/" + request.GetVolumeId() + "/" + n.NodeID: l.User.ID})
	}
	if err != nil || mounted {
		return &csi.NodeStageVolumeResponse{}, internal(err)
	}
	if err := n.mount(ctx, l, root.path, request); err != nil {
		return nil, internal(err)
	}
	if root.snapshot == "" {
		return &csi.NodeStageVolumeResponse{}, nil
	}
	shows := path.Join(target, root.snapshot)
	// What is mounted is read-only already.
	_, err = node.Run(ctx, "mount", "-o", "bind,_netdev", shows, target)
	return &csi.NodeStageVolumeResponse{}, internal(err)
}

// root needs the journal, and from the mgr `fs subvolume info`, for a shallow volume also `fs
// subvolume snapshot info`.
func (l *located) root(request *csi.NodeStageVolumeRequest) (root, error) {
	volume, backing, err := l.cluster.FindSubvolume(l.class, l.uuid)
	if err != nil {
		return root{}, err
	}
	if backing == "" {
		info, err := volume.Info()
		return root{path: info.Path, keeper: volume}, err
	}
	handle, err := access.ParseHandle(backing)
	if err != nil {
		return root{}, err
	}
	snapshot, info, err := snapshotOf(l.cluster, l.class, handle.UUID)
	if err != nil {
		return root{}, fmt.Errorf("failed to retrieve backing snapshot %s: %w", backing, err)
	}
	if !readOnly(request.GetVolumeCapability()) {
		return root{}, status.Error(codes.InvalidArgument, "snapshot-backed volume supports only read-only access mode")
	}
	subvolume, below := shown(snapshot, info)
	return root{path: subvolume, snapshot: below, keeper: snapshot}, nil
}

// shown is the directory of a snapshot's subvolume, and where in it the snapshot is.
func shown(snapshot *volumes.SubvolumeSnapshot, info volumes.SubvolumeInfo) (string, string) {
	subvolume, uuid := path.Split(info.Path)
	return subvolume, path.Join(".snap", snapshot.Name, uuid)
}

// mount is ceph-fuse. It outlives the plugin's pod as the kernel's mount does, unless the class
// asks for ceph-fuse itself: such mounts end with the pod.
func (n *Node) mount(ctx context.Context, l *located, directory string, request *csi.NodeStageVolumeRequest) error {
	var options []string
	kernel := request.GetVolumeContext()["mounter"] != "fuse"
	if !kernel {
		configured := l.CephFS.FuseMountOptions
		if configured == "" {
			configured = n.FuseMountOptions
		}
		options = append(options, request.GetVolumeContext()["fuseMountOptions"], configured, strings.Join(request.GetVolumeCapability().GetMount().GetMountFlags(), ","))
	}
	if readOnly(request.GetVolumeCapability()) {
		options = append(options, "ro")
	}
	arguments := []string{
		request.GetStagingTargetPath(), "-m", l.Mons(), "-c", "/etc/ceph/ceph.conf", "-n", "client." + l.User.ID, "--keyfile=" + l.User.KeyFile,
		"-r", directory, "--client_mds_namespace=" + l.class.Filesystem,
	}
	for _, option := range options {
		if option != "" {
			arguments = append(arguments, "-o", option)
		}
	}
	if !kernel {
		_, err := node.Run(ctx, "ceph-fuse", arguments...)
		return err
	}
	if err := loadModule(ctx); err != nil {
		return err
	}
	// Who may open what, the kernel knows itself. Once mounted, ceph-fuse closes its standard error, and libfuse has the
	// number for a pipe in which it takes requests: an error that is written there, such as of groups that it cannot read of
	// processes in other namespaces, makes it lose one, and who sent that waits for ever (seen with 16.2.15).
	_, err := node.Outlive(ctx, "ceph-fuse", append(arguments, "--fuse_default_permissions=true", "--err_to_stderr=false")...)
	return err
}

// loadModule makes the kernel know CephFS. ceph-csi's node plugin does so when it mounts for the first time.
func loadModule(ctx context.Context) error {
	known, err := os.ReadFile("/proc/filesystems")
	if err != nil || strings.Contains(string(known), "\tceph\n") {
		return err
	}
	return node.LoadModule(ctx, "ceph")
}

// NodeUnstageVolume unmounts all there is.
func (n *Node) NodeUnstageVolume(ctx context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	target := request.GetStagingTargetPath()
	if err := node.CheckGone(request.GetVolumeId(), target); err != nil {
		return nil, err
	}
	release, err := n.locks.Hold(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		mounted, err := node.Mounted(target)
		if err == nil && !mounted {
			return &csi.NodeUnstageVolumeResponse{}, nil
		}
		if err := node.Mounter.Unmount(target); err != nil {
			return nil, internal(err)
		}
	}
}

// NodePublishVolume binds the staged volume.
func (n *Node) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := node.CheckPublish(request); err != nil {
		return nil, err
	}
	staged := request.GetStagingTargetPath()
	mounted, err := node.Mounted(staged)
	if err != nil {
		return nil, internal(err)
	}
	if !mounted {
		return nil, status.Errorf(codes.Internal, "staging path %s for volume %s is not a mountpoint", staged, request.GetVolumeId())
	}
	return &csi.NodePublishVolumeResponse{}, node.Bind(staged, request)
}

// NodeUnpublishVolume undoes that.
func (n *Node) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := node.CheckGone(request.GetVolumeId(), request.GetTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, node.Unbind(request.GetTargetPath())
}

// NodeGetVolumeStats is how full a volume is.
func (n *Node) NodeGetVolumeStats(_ context.Context, request *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	return node.Stats(request, false)
}

// NodeGetInfo names the node.
func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.NodeID, AccessibleTopology: &csi.Topology{Segments: n.Topology}}, nil
}
