package images

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// TestInheritedRetainMark: librbd copies all metadata of a parent to its clone. What only inherits the
// mark goes, unless something that stays needs it.
func TestInheritedRetainMark(t *testing.T) {
	mark := func(i *ceph.RBDImage, of *ceph.RBDImage) {
		name, _ := ceph.ParseCSIName(of.Name)
		i.Metadata[ceph.TagRetain], i.Metadata[ceph.TagRetainOf] = ceph.RetainMark, name.UUID
	}
	t.Run("Snapshot", func(t *testing.T) {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		v := a.volume()
		mark(v, v)
		s := a.snapshot(v)
		mark(s, v)
		mustStay(t, f, v)
	})
	t.Run("Restore", func(t *testing.T) {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		v := a.volume()
		s := a.snapshot(v)
		r := a.restore(s)
		mark(s, s)
		mark(r, s)
		mustStay(t, f, v, s)
	})
	t.Run("Temporary", func(t *testing.T) {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		v := a.volume()
		c, temporary := a.clone(v)
		_ = c
		temporary.Metadata[ceph.TagCluster] = "a"
		mark(temporary, v)
		mark(v, v)
		mustStay(t, f, v)
	})
	t.Run("OlderMark", func(t *testing.T) {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		v := a.volume()
		v.Metadata[ceph.TagRetain] = ceph.RetainMark
		_, temporary := a.clone(a.volume())
		temporary.Metadata[ceph.TagRetain] = ceph.RetainMark
		mustStay(t, f, v)
	})
	t.Run("Own", func(t *testing.T) {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		v := a.volume()
		c, temporary := a.clone(v)
		mark(c, c)
		mustStay(t, f, v, c, temporary)
	})
}

func mustStay(t *testing.T, f *fakeRBD, want ...*ceph.RBDImage) {
	t.Helper()
	report, out, err := run(t, f, nil, clock.RealClock{})
	if err != nil || report.Code() != teardown.CodeDone {
		t.Errorf("code %d, %v\n%s", report.Code(), err, out)
	}
	for _, i := range want {
		if f.images[i.ImageRef] == nil {
			t.Errorf("%s was removed\n%s", i.Name, out)
		}
	}
	if len(f.images) != len(want) {
		t.Errorf("%d images stay, want %d\n%s", len(f.images), len(want), out)
	}
}
