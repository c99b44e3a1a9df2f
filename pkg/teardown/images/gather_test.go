package images

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// TestPoolsOfOtherApplications: an administrator may have enabled another application, or none.
func TestPoolsOfOtherApplications(t *testing.T) {
	tests := map[string]struct {
		reason       string
		applications []string
		claims       map[string]map[string]string
		named        []string
		found        bool
	}{
		"Claimed": {"the claim says that the cluster uses the pool", []string{"custom"},
			map[string]map[string]string{"custom": {driver.ClaimKey("a", "rbd"): driver.ClaimInUse}}, nil, true},
		"Named": {"somebody says so", []string{"custom"}, nil, []string{"rbd"}, true},
		"None":  {"ceph-csi works there, and Ceph only warns", nil, nil, nil, true},
		"Another's": {"the claim is another cluster's", []string{"custom"},
			map[string]map[string]string{"custom": {driver.ClaimKey("b", "rbd"): driver.ClaimInUse}}, nil, false},
		"Unknown": {"nothing says so", []string{"custom"}, nil, nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeRBD()
			cluster{fakeRBD: f, id: "a"}.volume()
			f.pools[0].Applications, f.pools[0].Metadata = tc.applications, tc.claims
			report, out, err := run(t, f, func(c *teardown.Config) { c.Pools = tc.named }, clock.RealClock{})
			if err != nil || report.Code() != teardown.CodeDone || (len(f.images) == 0) != tc.found {
				t.Errorf("%s: code %d, %v, left %v\n%s", tc.reason, report.Code(), err, f.images, out)
			}
		})
	}
}

func TestNamedPoolIsMissing(t *testing.T) {
	f := newFakeRBD()
	f.pools[0].ErasureCoded = true
	for _, name := range []string{"none", "rbd"} {
		_, _, err := run(t, f, func(c *teardown.Config) { c.Pools = []string{name} }, clock.RealClock{})
		if err == nil || !strings.Contains(err.Error(), `no replicated pool "`+name+`"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInstanceIDs: the directory of a ceph-csi that was told an --instanceid has that in its name.
func TestInstanceIDs(t *testing.T) {
	f := newFakeRBD()
	a, b := cluster{fakeRBD: f, id: "a"}, cluster{fakeRBD: f, id: "b"}
	volume := a.volume()
	snapshot := a.snapshot(volume)
	b.volume()
	for _, renamed := range []string{"csi.volumes.", "csi.snaps."} {
		usual, own := [3]string{"rbd", "", renamed + "default"}, [3]string{"rbd", "", renamed + "shop"}
		f.journals[own], f.journals[usual] = f.journals[usual], map[string]string{}
	}
	report, out, err := run(t, f, nil, clock.RealClock{})
	if err != nil || report.Code() != teardown.CodeDone || len(f.images) != 1 || f.listed == 0 {
		t.Fatalf("%v, code %d, pools listed %d times\n%s", err, report.Code(), f.listed, out)
	}
	for at, omap := range f.journals {
		for key, value := range omap {
			for _, gone := range []*ceph.RBDImage{volume, snapshot} {
				if name, _ := ceph.ParseCSIName(gone.Name); value == name.UUID {
					t.Errorf("%s has key %s of image %s", at, key, gone.Name)
				}
			}
		}
	}
}

// TestUsualDirectories: a pool may hold millions of objects.
func TestUsualDirectories(t *testing.T) {
	f := newFakeRBD()
	a := cluster{fakeRBD: f, id: "a"}
	a.snapshot(a.volume())
	a.clone(a.volume())
	if _, _, err := run(t, f, nil, clock.RealClock{}); err != nil || f.listed > 0 {
		t.Errorf("%v, pools listed %d times", err, f.listed)
	}
}
