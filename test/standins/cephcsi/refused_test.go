package main

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testRefused has users with less than ceph-csi needs, and what it then answers.
func testRefused(t *testing.T, l *lab) {
	journal := "pool=" + metadataPool + " namespace=csi"
	data := "allow rw tag cephfs data=" + cephdaemons.Filesystem
	cephfs := l.cephfs(t)
	rbd := life{driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "rbd"}, capability: filesystem("xfs", oneNode)}
	volume := cephfs.create(t, l, "refused")
	defer cephfs.remove(t, l, volume)
	tests := map[string]struct {
		reason string
		life   life
		// stages says that the user is a node's.
		stages bool
		caps   []string
		want   string
	}{
		"NodeWithoutJournal": {
			reason: "nodes read the journal", life: cephfs, stages: true, want: "rados: ret=-1, Operation not permitted",
			caps: []string{"mon", "allow r", "mgr", `allow command "fs subvolume info"`, "osd", data, "mds", "allow rw"},
		},
		"NodeWithoutMgr": {
			reason: "nodes ask the mgr where a subvolume is", life: cephfs, stages: true, want: "rados: ret=-13, Permission denied: \"access denied: does your client key have mgr caps?",
			caps: []string{"mon", "allow r", "osd", "allow r " + journal + ", " + data, "mds", "allow rw"},
		},
		"NodeWithoutNotes": {
			reason: "nodes note who mounts", life: cephfs, stages: true, want: "access denied: does your client key have mgr caps?",
			caps: []string{"mon", "allow r", "mgr", `allow command "fs subvolume info"`, "osd", "allow r " + journal + ", " + data, "mds", "allow rw"},
		},
		"FileProvisionerOfImages": {
			reason: "a profile for images cannot list filesystems", life: cephfs, want: "rados: ret=-13, Permission denied",
			caps: []string{"mon", "profile rbd", "mgr", "allow rw", "osd", "allow rw " + journal},
		},
		"ProvisionerWithoutMgr": {
			reason: "the mgr makes subvolumes", life: cephfs, want: "access denied: does your client key have mgr caps?",
			caps: []string{"mon", "allow r", "osd", "allow rw " + journal},
		},
		"AnotherPool": {
			reason: "rights are for pools", life: rbd, want: "rados: ret=-1, Operation not permitted",
			caps: []string{"mon", "profile rbd", "mgr", "profile rbd pool=other", "osd", "profile rbd pool=other"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			user := l.user(t, strings.ToLower(name), tc.caps...)
			var err error
			if tc.stages {
				_, err = l.drivers["cephfs-node"].NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{
					VolumeId: volume.GetVolumeId(), StagingTargetPath: t.TempDir(), VolumeCapability: tc.life.capability, Secrets: user, VolumeContext: volume.GetVolumeContext(),
				})
			} else {
				_, err = l.drivers[tc.life.driver+"-controller"].CreateVolume(t.Context(), &csi.CreateVolumeRequest{
					Name: "pvc-" + name, Parameters: tc.life.parameters, Secrets: user, VolumeCapabilities: []*csi.VolumeCapability{tc.life.capability},
				})
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, wanted %s", tc.reason, err, tc.want)
			}
		})
	}
}

// testPooled: what a user may do reaches a connection that is open only with its next one, unless
// it comes by a tag of the pool.
func testPooled(t *testing.T, l *lab) {
	user := l.user(t, "pooled", "mon", "profile rbd", "mgr", "profile rbd pool=rbd", "osd", "profile rbd pool=rbd, allow rwx tag rbd oc=lab")
	make := func(pool string) error {
		f := life{capability: filesystem("xfs", oneNode)}
		_, err := l.drivers["rbd-controller"].CreateVolume(t.Context(), &csi.CreateVolumeRequest{
			Name: "pvc-pooled-" + pool, Parameters: map[string]string{"clusterID": l.FSID(), "pool": pool, "imageFeatures": "layering"}, Secrets: user,
			VolumeCapabilities: []*csi.VolumeCapability{f.capability},
		})
		return err
	}
	check(t, make("rbd"))
	check(t, l.CreatePool(t.Context(), "later", "rbd"))
	l.must(t, "auth", "caps", "client.pooled", "mon", "profile rbd", "mgr", "profile rbd", "osd", "profile rbd, allow rwx tag rbd oc=lab")
	if err := make("later"); err == nil || !strings.Contains(err.Error(), "Operation not permitted") {
		t.Errorf("the open connection has the right that its user got meanwhile: %v", err)
	}
	l.must(t, "osd", "pool", "application", "set", "later", "rbd", "oc", "lab")
	check(t, make("later"))
}

// testUntyped: a claim whose provisioner names no type of filesystem is bound, and never mounted.
func testUntyped(t *testing.T, l *lab) {
	f := life{
		driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "rbd", "imageFeatures": "layering"},
		controller: l.user(t, "rbd", caps["rbd"]...), capability: filesystem("", oneNode),
	}
	volume := f.create(t, l, "untyped")
	defer f.remove(t, l, volume)
	_, err := l.drivers["rbd-node"].NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{
		VolumeId: volume.GetVolumeId(), StagingTargetPath: t.TempDir(), VolumeCapability: f.capability, Secrets: f.controller, VolumeContext: volume.GetVolumeContext(),
	})
	if err == nil || !strings.Contains(err.Error(), "could not parse fs info") {
		t.Errorf("staged without a type of filesystem: %v", err)
	}
}
