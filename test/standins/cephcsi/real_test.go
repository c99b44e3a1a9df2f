package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// TestRealCeph runs what needs a Ceph on one, because each takes seconds to start.
func TestRealCeph(t *testing.T) {
	if testing.Short() || os.Getenv(roleVariable) != sandboxRole {
		t.Skip("starts a real Ceph")
	}
	l := newLab(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *lab)
	}{
		{"Lives", testLives},
		{"Refused", testRefused},
		{"Untyped", testUntyped},
		{"Pooled", testPooled},
		{"Copies", testCopies},
		{"Golden", testGolden},
		{"Groups", testGroups},
		{"FileGroups", testFileGroups},
		{"Unquiet", testUnquiet},
		{"Sanity", testSanity},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, l) })
	}
}

// life is that of one volume, from claim to deletion, on a node.
type life struct {
	driver           string
	parameters       map[string]string
	controller, node map[string]string
	capability       *csi.VolumeCapability
	block            bool
	// fixed leaves growing out: ext4 grows in use only for those who have CAP_SYS_RESOURCE, which is
	// not everywhere.
	fixed bool
}

func (l *lab) cephfs(t *testing.T) life {
	t.Helper()
	return life{
		driver: "cephfs", parameters: map[string]string{"clusterID": l.FSID(), "fsName": cephdaemons.Filesystem},
		controller: l.user(t, "fs-p", caps["cephfs-provisioner"]...), node: l.user(t, "fs-n", caps["cephfs-node"]...), capability: filesystem("", manyNodes),
	}
}

func filesystem(fsType string, mode csi.VolumeCapability_AccessMode_Mode) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: fsType}},
	}
}

const (
	oneNode   = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	manyNodes = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	readers   = csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
)

func testLives(t *testing.T, l *lab) {
	block := &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: manyNodes},
		AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}},
	}
	rbdUser := l.user(t, "rbd", caps["rbd"]...)
	rbd := map[string]string{"clusterID": l.FSID(), "pool": "rbd", "imageFeatures": "layering,exclusive-lock,object-map,fast-diff,deep-flatten"}
	for name, life := range map[string]life{
		"Ext4":   {driver: "rbd", parameters: rbd, controller: rbdUser, node: rbdUser, capability: filesystem("ext4", oneNode), fixed: true},
		"XFS":    {driver: "rbd", parameters: rbd, controller: rbdUser, node: rbdUser, capability: filesystem("xfs", oneNode)},
		"Block":  {driver: "rbd", parameters: rbd, controller: rbdUser, node: rbdUser, capability: block, block: true},
		"CephFS": l.cephfs(t),
	} {
		t.Run(name, func(t *testing.T) { life.live(t, l, name) })
	}
}

const gibibyte = 1 << 30

func (f life) live(t *testing.T, l *lab, name string) {
	controller, node := l.drivers[f.driver+"-controller"], l.drivers[f.driver+"-node"]
	volume := f.create(t, l, name)
	again := f.create(t, l, name)
	if again.GetVolumeId() != volume.GetVolumeId() {
		t.Errorf("the same request made %s and %s", volume.GetVolumeId(), again.GetVolumeId())
	}
	staging, target := filepath.Join(l.dir, "staging", name), filepath.Join(l.dir, "pods", name)
	f.publish(t, l, volume, staging, target)
	file := filepath.Join(target, "greeting")
	if f.block {
		file = target
	}
	check(t, os.WriteFile(file, []byte("hello"), 0o600))
	size := int64(gibibyte)
	if !f.fixed {
		f.grow(t, l, volume, staging, target)
		size *= 2
	}
	stats, err := node.NodeGetVolumeStats(t.Context(), &csi.NodeGetVolumeStatsRequest{VolumeId: volume.GetVolumeId(), VolumePath: target})
	check(t, err)
	if total := stats.GetUsage()[0].GetTotal(); total < size*8/10 {
		t.Errorf("the volume has %d bytes, of %d", total, size)
	}
	if f.driver == "rbd" {
		_, err = controller.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: volume.GetVolumeId(), Secrets: f.controller})
		if status.Code(err) != codes.Aborted {
			t.Errorf("deleting a volume in use: %v", err)
		}
	}
	f.unpublish(t, l, volume, staging, target)
	f.publish(t, l, volume, staging, target)
	if content := head(t, file); content != "hello" {
		t.Errorf("read %q after the volume was staged again", content)
	}
	f.unpublish(t, l, volume, staging, target)
	f.remove(t, l, volume)
}

func head(t *testing.T, name string) string {
	t.Helper()
	file, err := os.Open(name)
	check(t, err)
	defer file.Close()
	content := make([]byte, len("hello"))
	_, err = file.Read(content)
	check(t, err)
	return string(content)
}

func (f life) create(t *testing.T, l *lab, name string) *csi.Volume {
	t.Helper()
	return f.createFrom(t, l, name, nil)
}

// createFrom comes again while the mgr copies.
func (f life) createFrom(t *testing.T, l *lab, name string, from *csi.VolumeContentSource) *csi.Volume {
	t.Helper()
	parameters := map[string]string{"csi.storage.k8s.io/pv/name": "pvc-" + name, "csi.storage.k8s.io/pvc/name": name, "csi.storage.k8s.io/pvc/namespace": "shop"}
	for key, value := range f.parameters {
		parameters[key] = value
	}
	deadline := time.Now().Add(time.Minute)
	for {
		answer, err := l.drivers[f.driver+"-controller"].CreateVolume(t.Context(), &csi.CreateVolumeRequest{
			Name: "pvc-" + name, Parameters: parameters, Secrets: f.controller, VolumeCapabilities: []*csi.VolumeCapability{f.capability},
			CapacityRange: &csi.CapacityRange{RequiredBytes: gibibyte}, VolumeContentSource: from,
		})
		if status.Code(err) == codes.Aborted && time.Now().Before(deadline) {
			<-time.After(100 * time.Millisecond)
			continue
		}
		check(t, err)
		return answer.GetVolume()
	}
}

func (f life) publish(t *testing.T, l *lab, volume *csi.Volume, staging, target string) {
	t.Helper()
	node := l.drivers[f.driver+"-node"]
	check(t, os.MkdirAll(staging, 0o700))
	check(t, os.MkdirAll(filepath.Dir(target), 0o700))
	_, err := node.NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{
		VolumeId: volume.GetVolumeId(), StagingTargetPath: staging, VolumeCapability: f.capability, Secrets: f.node, VolumeContext: volume.GetVolumeContext(),
	})
	check(t, err)
	for range 2 {
		_, err = node.NodePublishVolume(t.Context(), &csi.NodePublishVolumeRequest{
			VolumeId: volume.GetVolumeId(), StagingTargetPath: staging, TargetPath: target, VolumeCapability: f.capability, VolumeContext: volume.GetVolumeContext(),
		})
		check(t, err)
	}
}

func (f life) unpublish(t *testing.T, l *lab, volume *csi.Volume, staging, target string) {
	t.Helper()
	node := l.drivers[f.driver+"-node"]
	for range 2 {
		_, err := node.NodeUnpublishVolume(t.Context(), &csi.NodeUnpublishVolumeRequest{VolumeId: volume.GetVolumeId(), TargetPath: target})
		check(t, err)
	}
	for range 2 {
		_, err := node.NodeUnstageVolume(t.Context(), &csi.NodeUnstageVolumeRequest{VolumeId: volume.GetVolumeId(), StagingTargetPath: staging})
		check(t, err)
	}
}

func (f life) grow(t *testing.T, l *lab, volume *csi.Volume, staging, target string) {
	t.Helper()
	size := &csi.CapacityRange{RequiredBytes: 2 * gibibyte}
	answer, err := l.drivers[f.driver+"-controller"].ControllerExpandVolume(t.Context(), &csi.ControllerExpandVolumeRequest{
		VolumeId: volume.GetVolumeId(), CapacityRange: size, Secrets: f.controller, VolumeCapability: f.capability,
	})
	check(t, err)
	if !answer.GetNodeExpansionRequired() {
		f.awaitSize(t, l, volume, target, size.GetRequiredBytes())
		return
	}
	_, err = l.drivers[f.driver+"-node"].NodeExpandVolume(t.Context(), &csi.NodeExpandVolumeRequest{
		VolumeId: volume.GetVolumeId(), StagingTargetPath: staging, VolumePath: target, CapacityRange: size, VolumeCapability: f.capability,
	})
	check(t, err)
}

// awaitSize waits for what the kernel, or what stands in for it, hears of from Ceph.
func (f life) awaitSize(t *testing.T, l *lab, volume *csi.Volume, target string, size int64) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		stats, err := l.drivers[f.driver+"-node"].NodeGetVolumeStats(t.Context(), &csi.NodeGetVolumeStatsRequest{VolumeId: volume.GetVolumeId(), VolumePath: target})
		check(t, err)
		total := stats.GetUsage()[0].GetTotal()
		if total == size {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the volume has %d bytes, not %d", total, size)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// remove goes on while the one who has just let the image go still watches it.
func (f life) remove(t *testing.T, l *lab, volume *csi.Volume) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := l.drivers[f.driver+"-controller"].DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: volume.GetVolumeId(), Secrets: f.controller})
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(100 * time.Millisecond)
	}
}
