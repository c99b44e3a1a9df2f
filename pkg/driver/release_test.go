package driver

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestOffersGroupSnapshots(t *testing.T) {
	tests := map[string]struct {
		reason      string
		image       string
		rbd, cephFS bool
	}{
		"Current":  {"all that the arguments are for", "quay.io/cephcsi/cephcsi:v3.14.0", true, true},
		"First":    {"RBD began later", "quay.io/cephcsi/cephcsi:v3.12.2", false, true},
		"Old":      {"neither does", "cephcsi:v3.10.2", false, false},
		"Minor":    {"a tag that follows a release", "mirror:5000/cephcsi:3.12", false, true},
		"Suffix":   {"a build of a release", "mirror:5000/cephcsi:v3.12.1-hotfix", false, true},
		"Both":     {"tag and digest", "cephcsi:v3.12.2@sha256:0", false, true},
		"Digest":   {"a payload does not tell", "quay.io/openshift/ceph-csi-driver@sha256:310af", true, true},
		"Canary":   {"a branch does not tell", "quay.io/cephcsi/cephcsi:canary", true, true},
		"Port":     {"a port is no release", "mirror:3.1/cephcsi", true, true},
		"NextMain": {"nobody knows", "cephcsi:v4.0.0", true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if rbd, cephFS := RBD.OffersGroupSnapshots(tc.image), CephFS.OffersGroupSnapshots(tc.image); rbd != tc.rbd || cephFS != tc.cephFS {
				t.Errorf("%s: RBD %t, CephFS %t, want %t, %t", tc.reason, rbd, cephFS, tc.rbd, tc.cephFS)
			}
		})
	}
}

func TestOutlast(t *testing.T) {
	tests := map[string]struct {
		reason, image string
		want          []string
	}{
		"Earlier": {"it would not start", "cephcsi:v3.16.2", nil},
		"First":   {"it ends itself when a call is stuck", "cephcsi:v3.17.0", []string{"--feature-gates=SlowGRPCRestart=false"}},
		"Current": {"likewise", "cephcsi:v3.18.0@sha256:0", []string{"--feature-gates=SlowGRPCRestart=false"}},
		"Digest":  {"it may be an earlier one", "cephcsi@sha256:310af", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "other"}, {Name: Container, Image: tc.image}}}
			Outlast(&pod)
			if got := pod.Containers[1].Args; !slices.Equal(got, tc.want) || pod.Containers[0].Args != nil {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}
