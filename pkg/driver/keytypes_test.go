package driver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestKnowsKeys(t *testing.T) {
	tests := map[string]struct {
		reason, image string
		strong        bool
	}{
		"Old":       {"the keys are younger", "quay.io/cephcsi/cephcsi:v3.15.0", false},
		"Before":    {"a patch release too early", "quay.io/cephcsi/cephcsi:v3.16.2", false},
		"First":     {"the first that does", "quay.io/cephcsi/cephcsi:v3.16.3", true},
		"Build":     {"a build of it", "mirror:5000/cephcsi:3.16.3-1@sha256:0", true},
		"NextMinor": {"made before the patch of the last one", "cephcsi:v3.17.0", false},
		"Second":    {"the first of this minor release", "cephcsi:v3.17.1", true},
		"Later":     {"all that follow", "cephcsi:v3.18.0", true},
		"Follows":   {"a tag that follows has the newest patch release", "cephcsi:v3.16", true},
		"Digest":    {"a payload does not tell", "quay.io/openshift/ceph-csi-driver@sha256:310af", true},
		"Canary":    {"a branch does not tell", "cephcsi:canary", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := KnowsKeys(tc.image, ceph.AES256); got != tc.strong {
				t.Errorf("%s: got %t", tc.reason, got)
			}
			if !KnowsKeys(tc.image, ceph.AES) || !KnowsKeys(tc.image, "") {
				t.Error("every release knows the older type")
			}
		})
	}
}

func TestWeakKernels(t *testing.T) {
	got := WeakKernels(map[string]string{"d": "7.0.1", "c": "6.19.3", "a": "5.14.0-427.el9.x86_64", "b": "", "e": "10.1"})
	if diff := cmp.Diff([]string{"a (5.14.0-427.el9.x86_64)", "b ()", "c (6.19.3)"}, got); diff != "" {
		t.Error(diff)
	}
}
