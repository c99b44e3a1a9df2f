package driver

import (
	"errors"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReadSettings(t *testing.T) {
	ceph := func(fields map[string]any) map[string]any {
		return map[string]any{"driverConfig": map[string]any{"driverType": "Ceph", "ceph": fields}}
	}
	tests := map[string]struct {
		reason string
		spec   any
		want   Settings
		err    string
	}{
		"NoSpec":         {reason: "defaults"},
		"NoDriverConfig": {reason: "defaults", spec: map[string]any{}},
		"Pruned":         {reason: "a stock CRD dropped the member", spec: map[string]any{"driverConfig": map[string]any{"driverType": "Ceph"}}},
		"RBD": {
			reason: "fields of an RBD driver",
			spec:   ceph(map[string]any{"cluster": "f", "pool": "p", "dataPool": "d"}),
			want:   Settings{Cluster: "f", Pool: "p", DataPool: "d"},
		},
		"CephFS": {
			reason: "fields of a CephFS driver; unknown and null ones do not disturb",
			spec:   ceph(map[string]any{"filesystem": "a", "subvolumeGroup": "g", "pool": nil, "new": int64(1)}),
			want:   Settings{Filesystem: "a", SubvolumeGroup: "g"},
		},
		"WrongField": {
			reason: "a CRD without a schema lets it through",
			spec:   ceph(map[string]any{"pool": int64(5)}),
			err:    "invalid setting: spec.driverConfig.ceph.pool of ClusterCSIDriver rbd.csi.ceph.com is 5, must be a string",
		},
		"WrongMember": {
			reason: "the whole member",
			spec:   map[string]any{"driverConfig": map[string]any{"ceph": "p"}},
			err:    "invalid setting: spec.driverConfig.ceph of ClusterCSIDriver rbd.csi.ceph.com is p, must be an object",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cr := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "rbd.csi.ceph.com"}}}
			if tc.spec != nil {
				cr.Object["spec"] = tc.spec
			}
			got, err := ReadSettings(cr)
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
			if tc.err == "" && err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if tc.err != "" && (!errors.Is(err, ErrInvalidSettings) || err.Error() != tc.err) {
				t.Errorf("%s: got error %v, want %s", tc.reason, err, tc.err)
			}
		})
	}
}

func TestReadSettingsWithoutResource(t *testing.T) {
	if got, err := ReadSettings(nil); err != nil || !reflect.DeepEqual(got, Settings{}) {
		t.Errorf("no resource means defaults: got %+v, %v", got, err)
	}
}
