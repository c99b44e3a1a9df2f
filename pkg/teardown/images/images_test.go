package images

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

func run(t *testing.T, f *fakeRBD, change func(*teardown.Config), c clock.Clock) (*teardown.Report, string, error) {
	t.Helper()
	var out bytes.Buffer
	config := teardown.Config{Options: teardown.Options{InfraID: "a", Parallel: 1}, Out: &out}
	if change != nil {
		change(&config)
	}
	config.Parts = []teardown.Part{New(config.Options, f, c)}
	report, err := teardown.Run(t.Context(), config)
	return report, out.String(), err
}

// left describes everything that there is, for comparison.
func (f *fakeRBD) left() []string {
	var out []string
	for _, i := range f.images {
		line := fmt.Sprintf("image %s %s listed=%t header=%t %v", i.Path(), i.ID, i.Listed, i.Header, slices.Sorted(maps.Values(i.Metadata)))
		for _, s := range i.Snapshots {
			line += fmt.Sprintf(" snap=%d/%d", s.ID, len(s.Children))
		}
		out = append(out, line)
	}
	for at, omap := range f.journals {
		for _, key := range slices.Sorted(maps.Keys(omap)) {
			out = append(out, fmt.Sprintf("journal %v %s=%s", at, key, omap[key]))
		}
	}
	for at := range f.records {
		out = append(out, fmt.Sprintf("record %v", at))
	}
	slices.Sort(out)
	return out
}

// bystanders are what a teardown of cluster a must not touch: none of it depends on a's.
func bystanders(f *fakeRBD) {
	b := cluster{fakeRBD: f, id: "b"}
	tenant := cluster{fakeRBD: f, id: "b", namespace: "tenant"}
	v := b.volume()
	b.restore(b.snapshot(v))
	b.clone(v)
	b.deleted(b.volume())
	tenant.clone(tenant.volume())
	b.group(b.volume())
	b.snapshots(b.taken(), b.taken())
	b.image("vm-disk")
	b.image("csi-vol-" + teardowntest.UUID())
	temporary := b.image("csi-vol-" + teardowntest.UUID() + "-temp")
	temporary.Metadata[ceph.TagCluster] = "b"
}

// belongings are all forms of what cluster a may have.
func belongings(f *fakeRBD) {
	for _, c := range []cluster{{fakeRBD: f, id: "a"}, {fakeRBD: f, id: "a", namespace: "tenant"}} {
		v := c.volume()
		s := c.snapshot(v)
		r := c.restore(s)
		first, _ := c.clone(r)
		c.clone(first)
		c.deleted(s)
		parent := c.volume()
		c.clone(parent)
		c.deleted(parent)
		c.deleted(c.volume())
		c.group(c.volume(), c.volume())
		c.snapshots(c.taken(), c.taken())
		scattered := c.volume()
		name, _ := ceph.ParseCSIName(scattered.Name)
		c.write("tenant", "csi.volume."+name.UUID, map[string]string{"csi.imageid": scattered.ID})
		cut := c.volume()
		cut.Listed, cut.Trash = false, &ceph.TrashEntry{Name: cut.Name, Removing: true, State: ceph.TrashRemoving}
		half := c.volume()
		half.Trash = &ceph.TrashEntry{Name: half.Name, State: ceph.TrashMoving}
		plain := c.volume()
		plain.Snapshots = []ceph.ImageSnapshot{{ID: 1, Name: "by-hand", Protected: true}}
	}
}

func TestImagesAreRemoved(t *testing.T) {
	f := newFakeRBD()
	bystanders(f)
	want := f.left()
	belongings(f)
	report, out, err := run(t, f, nil, clock.RealClock{})
	if err != nil || report.Code() != teardown.CodeDone {
		t.Fatalf("code %d, %v\n%s", report.Code(), err, out)
	}
	if diff := cmp.Diff(want, f.left()); diff != "" {
		t.Errorf("what is left (-want +got):\n%s\n%s", diff, out)
	}
}

// TestImagesKilledAnywhere: before each single change, then run again.
func TestImagesKilledAnywhere(t *testing.T) {
	for dieAt := 1; ; dieAt++ {
		f := newFakeRBD()
		bystanders(f)
		want := f.left()
		belongings(f)
		f.dieAt = dieAt
		if report, _, err := run(t, f, nil, clock.RealClock{}); err == nil && report.Code() == teardown.CodeDone {
			if dieAt < 100 {
				t.Fatalf("only %d changes were made", dieAt)
			}
			return
		}
		f.dieAt = 0
		report, out, err := run(t, f, nil, clock.RealClock{})
		if err != nil || report.Code() != teardown.CodeDone {
			t.Fatalf("killed before change %d: code %d, %v\n%s", dieAt, report.Code(), err, out)
		}
		if diff := cmp.Diff(want, f.left()); diff != "" {
			t.Fatalf("killed before change %d, what is left (-want +got):\n%s\n%s", dieAt, diff, out)
		}
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	f := newFakeRBD()
	bystanders(f)
	belongings(f)
	want := f.left()
	report, out, err := run(t, f, func(c *teardown.Config) { c.DryRun = true }, clock.RealClock{})
	if err != nil || report.Code() != teardown.CodeDone || f.steps != 0 {
		t.Fatalf("code %d, %d changes, %v\n%s", report.Code(), f.steps, err, out)
	}
	if diff := cmp.Diff(want, f.left()); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

// TestBusyImages: a client that died a moment ago still holds one.
func TestBusyImages(t *testing.T) {
	f := newFakeRBD()
	v := cluster{fakeRBD: f, id: "a"}.volume()
	f.busy[v.Name] = 3
	fake := clocktesting.NewFakeClock(clock.RealClock{}.Now())
	defer teardowntest.StepWhileWaiting(fake, busyPause)()
	report, out, err := run(t, f, nil, fake)
	if err != nil || report.Code() != teardown.CodeDone || len(f.images) != 0 {
		t.Errorf("code %d, %v\n%s", report.Code(), err, out)
	}
}

// TestBigImagesGoThroughTheManager, which goes on when nobody waits.
func TestBigImagesGoThroughTheManager(t *testing.T) {
	f := newFakeRBD()
	v := cluster{fakeRBD: f, id: "a"}.volume()
	v.Size = 4 << 40
	report, out, err := run(t, f, nil, clock.RealClock{})
	if err != nil || report.Code() != teardown.CodeDone || !slices.Contains(f.queued, v.Name) || len(f.images) != 0 {
		t.Errorf("code %d, queued %v, %v\n%s", report.Code(), f.queued, err, out)
	}
	if !strings.Contains(out, "4 TiB") {
		t.Errorf("the size is missing:\n%s", out)
	}
}

// TestFullPools: the mgr's writes wait until there is room, and all that it is told after with them.
func TestFullPools(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		pool   int
		parent bool
		says   string
		code   int
	}{
		"Pool":     {"the mgr notes there what it was told", 0, false, "Removed 1 of 1", teardown.CodeDone},
		"DataPool": {"it removes what is there", 3, false, "Removed 1 of 1", teardown.CodeDone},
		"Parent":   {"the mgr alone waits for the clone", 0, true, `pool "rbd" is full`, teardown.CodeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeRBD()
			a := cluster{fakeRBD: f, id: "a"}
			f.pools = append(f.pools, ceph.Pool{ID: 4, Name: "data", ErasureCoded: true})
			f.pools[tc.pool].Full = true
			v := a.volume()
			v.Size, v.DataPool = 4<<40, 4
			if tc.parent {
				cluster{fakeRBD: f, id: "b"}.restore(a.snapshot(v))
			}
			report, out, err := run(t, f, func(c *teardown.Config) { c.KeepForChildren = tc.parent }, clock.RealClock{})
			if err != nil || report.Code() != tc.code || len(f.queued) > 0 || !strings.Contains(out, tc.says) {
				t.Errorf("%s: code %d, queued %v, %v\n%s", tc.reason, report.Code(), f.queued, err, out)
			}
		})
	}
}
