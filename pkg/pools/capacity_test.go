package pools

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func (r *careRig) expectCapacities(t *testing.T, reason string, want ...Capacity) {
	t.Helper()
	got, _ := r.controller.Capacities.Get()
	if diff := cmp.Diff(Capacities{cephtest.FSID: want}, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", reason, diff)
	}
}

// mute does not say how full pools are.
type mute struct{ Cluster }

func (mute) Capacities(context.Context) ([]ceph.Capacity, error) {
	return nil, errors.New("no answer")
}

func TestCapacities(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	for _, name := range []string{"a", "d", "other"} {
		r.ceph.AddPool(ceph.Pool{Name: name, Applications: []string{"rbd"}})
	}
	r.ceph.SetCapacity("a", 10, 90)
	r.ceph.SetCapacity("d", 75, 25)
	r.use(t, classes(class(driver.RBD, "c", "pool", "a", "dataPool", "d")),
		provisioned(driver.RBD, 1, "pool", "a", "dataPool", "d"), provisioned(driver.RBD, 1, "pool", "a"))
	r.expectCapacities(t, "pools in use alone, the fullest of volumes first",
		Capacity{Pool: "a", Volumes: 2, Measured: true, Stored: 10, Available: 90},
		Capacity{Pool: "d", Volumes: 1, Measured: true, Stored: 75, Available: 25})
	r.client = mute{r.client}
	r.later(t)
	r.expectCapacities(t, "an old number is none", Capacity{Pool: "a", Volumes: 2}, Capacity{Pool: "d", Volumes: 1})
	r.expectFlagged(t, "and nothing rests on it", "a", "d")
}

func TestCapacitiesOfFilesystems(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("f", true)
	r.ceph.SetCapacity("f-data", 1, 2)
	r.ceph.SetCapacity("f-metadata", 3, 4)
	r.use(t, nil, provisioned(driver.CephFS, 1, "fsName", "f"))
	r.expectCapacities(t, "both pools of the filesystem",
		Capacity{Pool: "f-data", Volumes: 1, Measured: true, Stored: 1, Available: 2},
		Capacity{Pool: "f-metadata", Volumes: 1, Measured: true, Stored: 3, Available: 4})
}
