package driver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestParametersRoundTrip(t *testing.T) {
	tests := map[string]struct {
		reason  string
		storage Storage
		place   ceph.Placement
		want    map[string]string
	}{
		"RBD": {
			reason:  "pool of a class",
			storage: RBD.Storage,
			place:   ceph.Placement{FSID: "f", Pool: "p"},
			want:    map[string]string{"clusterID": "f", "pool": "p"},
		},
		"CephFS": {
			reason:  "filesystem of a class",
			storage: CephFS.Storage,
			place:   ceph.Placement{FSID: "f", Filesystem: "fs"},
			want:    map[string]string{"clusterID": "f", "fsName": "fs"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.storage.Parameters(tc.place)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if back := tc.storage.FromParameters(got); back != tc.place {
				t.Errorf("%s: read back %+v, want %+v", tc.reason, back, tc.place)
			}
		})
	}
}

func TestCephFSIgnoresTheLayoutPool(t *testing.T) {
	got := CephFS.Storage.FromParameters(map[string]string{"fsName": "a", "pool": "layout"})
	if want := (ceph.Placement{Filesystem: "a"}); got != want {
		t.Errorf("parameter pool of a CephFS class is a layout, no place: got %+v, want %+v", got, want)
	}
}
