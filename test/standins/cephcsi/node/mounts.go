// Package node has what the node plugins of both drivers do alike: bind mounts, how full a volume
// is, and programs that outlive the plugin's pod.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	mount "k8s.io/mount-utils"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

// Mounter is Kubernetes' own.
var Mounter = mount.NewWithoutSystemd("")

// Run is one of package programs; its errors have what it said.
func Run(ctx context.Context, program string, arguments ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("an error (%w) occurred while running %s, stderr: %s", err, program, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Outlive is Run by what stands in for the node's kernel: a kernel's mount goes on when the plugin's pod ends.
// Where there is none, the program stays where the plugin is.
func Outlive(ctx context.Context, program string, arguments ...string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", wire.KernelSocket)
	if errors.Is(err, fs.ErrNotExist) {
		return Run(ctx, program, arguments...)
	}
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var out wire.Started
	err = errors.Join(json.NewEncoder(conn).Encode(append([]string{program}, arguments...)), json.NewDecoder(conn).Decode(&out))
	if err == nil && out.Error != "" {
		err = errors.New(out.Error)
	}
	return out.Output, err
}

// Mounted tells whether something is mounted there; nothing is where there is no such path.
func Mounted(path string) (bool, error) {
	mounted, err := Mounter.IsMountPoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return mounted, err
}

// Bind shows a staged volume at the target.
func Bind(staged string, request *csi.NodePublishVolumeRequest) error {
	target := request.GetTargetPath()
	mounted, err := Mounted(target)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	if mounted {
		return nil
	}
	if request.GetVolumeCapability().GetAccessMode().GetMode() == csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER {
		if others, err := Mounter.GetMountRefs(staged); err != nil || len(others) > 0 {
			return status.Errorf(codes.FailedPrecondition, "volume is published at %q already: %v", others, err)
		}
	}
	if request.GetVolumeCapability().GetBlock() != nil {
		err = touch(target)
	} else {
		err = os.MkdirAll(target, 0o750)
	}
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	options := append([]string{"bind", "_netdev"}, request.GetVolumeCapability().GetMount().GetMountFlags()...)
	if request.GetReadonly() {
		options = append(options, "ro")
	}
	if err := Mounter.MountSensitiveWithoutSystemd(staged, target, "", options, nil); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

func touch(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// StageFile is where a block volume's device is bound to.
func StageFile(path string) error { return touch(path) }

// Unbind takes the volume and the target away. A mount whose program is gone counts, too.
func Unbind(target string) error {
	mounted, err := Mounted(target)
	if err != nil && !mount.IsCorruptedMnt(err) {
		return status.Error(codes.Internal, err.Error())
	}
	if mounted || err != nil {
		if err := Mounter.Unmount(target); err != nil {
			return status.Error(codes.Internal, err.Error())
		}
	}
	if err := os.RemoveAll(target); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

// IsDevice says whether a path is one.
func IsDevice(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.Mode()&os.ModeDevice != 0
}

// Stats tell how full a volume is.
func Stats(request *csi.NodeGetVolumeStatsRequest, inodes bool) (*csi.NodeGetVolumeStatsResponse, error) {
	path := request.GetVolumePath()
	if request.GetVolumeId() == "" || path == "" {
		return nil, status.Errorf(codes.InvalidArgument, "volume ID %q or targetpath %q is empty", request.GetVolumeId(), path)
	}
	stat, err := os.Stat(path)
	if mount.IsCorruptedMnt(err) {
		return &csi.NodeGetVolumeStatsResponse{VolumeCondition: &csi.VolumeCondition{Abnormal: true, Message: err.Error()}}, nil
	}
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "failed to get stat for targetpath %q: %v", path, err)
	}
	answer := &csi.NodeGetVolumeStatsResponse{VolumeCondition: &csi.VolumeCondition{Message: "volume is in a healthy condition"}}
	if stat.Mode()&os.ModeDevice != 0 {
		size, err := deviceSize(path)
		answer.Usage = []*csi.VolumeUsage{{Total: size, Unit: csi.VolumeUsage_BYTES}}
		return answer, err
	}
	if mounted, err := Mounted(path); err != nil || !mounted {
		return nil, status.Errorf(codes.NotFound, "targetpath %s is not mounted: %v", path, err)
	}
	var f unix.Statfs_t
	if err := unix.Statfs(path, &f); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	block := f.Bsize
	answer.Usage = append(answer.Usage, &csi.VolumeUsage{
		Total: int64(f.Blocks) * block, Available: int64(f.Bavail) * block, Used: int64(f.Blocks-f.Bfree) * block, Unit: csi.VolumeUsage_BYTES,
	})
	if inodes {
		answer.Usage = append(answer.Usage, &csi.VolumeUsage{
			Total: int64(f.Files), Available: int64(f.Ffree), Used: int64(f.Files - f.Ffree), Unit: csi.VolumeUsage_INODES,
		})
	}
	return answer, nil
}

func deviceSize(path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, status.Error(codes.Internal, err.Error())
	}
	defer file.Close()
	size, err := file.Seek(0, 2)
	if err != nil {
		return 0, status.Error(codes.Internal, err.Error())
	}
	return size, nil
}

// CheckStage refuses what ceph-csi refuses of a request.
func CheckStage(request *csi.NodeStageVolumeRequest) error {
	switch {
	case request.GetVolumeCapability() == nil:
		return status.Error(codes.InvalidArgument, "volume capability missing in request")
	case request.GetVolumeId() == "":
		return status.Error(codes.InvalidArgument, "volume ID missing in request")
	case request.GetStagingTargetPath() == "":
		return status.Error(codes.InvalidArgument, "staging target path missing in request")
	case len(request.GetSecrets()) == 0:
		return status.Error(codes.InvalidArgument, "stage secrets cannot be nil or empty")
	}
	if _, err := os.Stat(request.GetStagingTargetPath()); errors.Is(err, fs.ErrNotExist) {
		return status.Errorf(codes.InvalidArgument, "staging path %s does not exist on node", request.GetStagingTargetPath())
	}
	return nil
}

// CheckPublish refuses what ceph-csi refuses of a request.
func CheckPublish(request *csi.NodePublishVolumeRequest) error {
	switch {
	case request.GetVolumeCapability() == nil:
		return status.Error(codes.InvalidArgument, "volume capability missing in request")
	case request.GetVolumeId() == "":
		return status.Error(codes.InvalidArgument, "volume ID missing in request")
	case request.GetTargetPath() == "":
		return status.Error(codes.InvalidArgument, "target path missing in request")
	case request.GetStagingTargetPath() == "":
		return status.Error(codes.InvalidArgument, "staging target path missing in request")
	}
	return nil
}

// CheckGone refuses requests to take away that do not say what, or from where.
func CheckGone(volumeID, path string) error {
	if volumeID == "" || path == "" {
		return status.Error(codes.InvalidArgument, "volume ID or target path missing in request")
	}
	return nil
}
