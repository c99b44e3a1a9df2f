package classes

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestVolumeParameters(t *testing.T) {
	tests := map[string]struct {
		reason   string
		driver   driver.Driver
		place    ceph.Placement
		settings driver.Settings
		want     map[string]string
	}{
		"DataPool": {
			reason: "data apart from metadata",
			driver: driver.RBD,
			place:  ceph.Placement{FSID: "f", Pool: "p", DataPool: "ec"},
			want:   map[string]string{"clusterID": "f", "pool": "p", "dataPool": "ec"},
		},
		"CephFS": {
			reason: "the group stands in config.json",
			driver: driver.CephFS,
			place:  ceph.Placement{FSID: "f", Filesystem: "a", SubvolumeGroup: "csi"},
			want:   map[string]string{"clusterID": "f", "fsName": "a"},
		},
		"RBDSettings": {
			reason:   "the place has the last word: what is named may not be there yet",
			driver:   driver.RBD,
			place:    ceph.Placement{FSID: "f", Pool: "p"},
			settings: driver.Settings{Pool: "other", ImageFeatures: "layering", Mounter: "rbd-nbd", MapOptions: "nbd:x"},
			want:     map[string]string{"clusterID": "f", "pool": "p", "imageFeatures": "layering", "mounter": "rbd-nbd", "mapOptions": "nbd:x"},
		},
		"CephFSSettings": {
			reason:   "only what is set: ceph-csi probes for a mounter by itself",
			driver:   driver.CephFS,
			place:    ceph.Placement{FSID: "f", Filesystem: "a"},
			settings: driver.Settings{KernelMountOptions: "ms_mode=secure"},
			want:     map[string]string{"clusterID": "f", "fsName": "a", "kernelMountOptions": "ms_mode=secure"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := volumeParameters(tc.driver, tc.place, tc.settings)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// Settings that cannot be read change nothing, and no class is made with guesses.
func TestHookWithoutSettings(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	old := map[string]string{"mounter": "rbd-nbd"}
	tests := map[string]struct {
		existing *storagev1.StorageClass
		want     map[string]string
		err      error
	}{
		"Existing": {existing: ours(old), want: old},
		"First":    {err: ErrUndecided},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorageClass(t, driver.RBD, tc.existing, place)
			s.Settings = func() (driver.Settings, error) { return driver.Settings{}, driver.ErrPrunedSettings }
			got := resourceread.ReadStorageClassV1OrDie(manifest(t, driver.RBD, assets.StorageClass))
			if err := s.Hook()(&operatorv1.OperatorSpec{}, got); !errors.Is(err, tc.err) {
				t.Fatalf("got error %v, want %v", err, tc.err)
			}
			if ready, _, err := s.ready(); err != nil || ready != (tc.err == nil) {
				t.Errorf("ready is %v, error %v", ready, err)
			}
			if diff := cmp.Diff(tc.want, got.Parameters); tc.err == nil && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
