package driver

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestClaimApplication(t *testing.T) {
	const key = "k"
	with := func(applications ...string) map[string]map[string]string {
		out := map[string]map[string]string{}
		for _, name := range applications {
			out[name] = map[string]string{key: "x"}
		}
		return out
	}
	tests := map[string]struct {
		reason string
		pool   ceph.Pool
		want   string
	}{
		"Own":       {"rights look there", ceph.Pool{Applications: []string{"cephfs", "rbd"}}, "rbd"},
		"Moves":     {"an older operator left it where no right looks", ceph.Pool{Applications: []string{"cephfs", "rbd"}, Metadata: with("cephfs")}, "rbd"},
		"Other":     {"some place is better than none", ceph.Pool{Applications: []string{"cephfs", "rgw"}}, "cephfs"},
		"Holder":    {"it stays where it is", ceph.Pool{Applications: []string{"cephfs", "rgw"}, Metadata: with("rgw")}, "rgw"},
		"Two":       {"all must agree", ceph.Pool{Applications: []string{"x"}, Metadata: with("rgw", "cephfs")}, "cephfs"},
		"None":      {"there is nowhere to write", ceph.Pool{}, ""},
		"Forgotten": {"it is still to be taken away", ceph.Pool{Metadata: with("rgw")}, "rgw"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ClaimApplication(tc.pool, "rbd", key); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
