package images

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

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
