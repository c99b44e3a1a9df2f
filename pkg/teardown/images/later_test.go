package images

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// TestChangedWhileAsking: whoever is asked may think for an hour.
func TestChangedWhileAsking(t *testing.T) {
	f := newFakeRBD()
	a := cluster{fakeRBD: f, id: "a"}
	cloned, gone, plain := a.volume(), a.volume(), a.volume()
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	var out bytes.Buffer
	options := teardown.Options{InfraID: "a", Parallel: 1}
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, f, now)}, Confirm: func(string) (bool, error) {
		b := cluster{fakeRBD: f, id: "b"}
		b.cloneOf(cloned, b.volume(), ceph.TrashSnapshot, "new")
		delete(f.images, gone.ImageRef)
		now.Step(time.Hour)
		return true, nil
	}})
	if err != nil || report.Code() != teardown.CodeFailed {
		t.Fatalf("code %d, %v\n%s", report.Code(), err, out.String())
	}
	if f.images[cloned.ImageRef] == nil || !cloned.Listed || !strings.Contains(out.String(), "changed since it was shown") {
		t.Errorf("an image that was cloned meanwhile is gone\n%s", out.String())
	}
	if f.images[plain.ImageRef] != nil || !strings.Contains(out.String(), "gone already") {
		t.Errorf("the others are not removed\n%s", out.String())
	}
}

// TestAliveWhileAsking: somebody starts to use a volume.
func TestAliveWhileAsking(t *testing.T) {
	f := newFakeRBD()
	a := cluster{fakeRBD: f, id: "a"}
	v := a.volume()
	a.volume()
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	var out bytes.Buffer
	options := teardown.Options{InfraID: "a", Parallel: 1}
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, f, now)}, Confirm: func(string) (bool, error) {
		f.users[v.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
		now.Step(time.Hour)
		return true, nil
	}})
	if err != nil || report.Code() != teardown.CodeFailed || len(f.images) != 2 || f.steps != 0 {
		t.Errorf("code %d, %d images, %d changes, %v\n%s", report.Code(), len(f.images), f.steps, err, out.String())
	}
}

// stubborn cannot remove one image.
type stubborn struct {
	*fakeRBD
	name string
}

func (s stubborn) TrashImage(ctx context.Context, image ceph.RBDImage) error {
	if image.Name == s.name {
		return teardowntest.Errno("rbd trash mv", syscall.EIO)
	}
	return s.fakeRBD.TrashImage(ctx, image)
}

// TestParentsOfWhatFailed stay as they are, with their journals.
func TestParentsOfWhatFailed(t *testing.T) {
	f := newFakeRBD()
	a := cluster{fakeRBD: f, id: "a"}
	v := a.volume()
	s := a.snapshot(v)
	r := a.restore(s)
	other := a.volume()
	options := teardown.Options{InfraID: "a", Parallel: 1}
	var out bytes.Buffer
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, stubborn{f, r.Name}, clock.RealClock{})}})
	failed := slices.DeleteFunc(slices.Clone(report.Items), func(l teardown.Line) bool { return l.Verdict != teardown.Remove || l.Result == "removed" })
	if err != nil || report.Code() != teardown.CodeFailed || len(failed) != 3 {
		t.Fatalf("code %d, %v\n%s", report.Code(), err, out.String())
	}
	if !v.Listed || !s.Listed || f.images[other.ImageRef] != nil {
		t.Errorf("volume listed %t, snapshot listed %t, the other there %t\n%s", v.Listed, s.Listed, f.images[other.ImageRef] != nil, out.String())
	}
	if len(f.records) != 1 {
		t.Errorf("%d records are left for the next run", len(f.records))
	}
}

// dying has a client that Ceph drops after a while.
type dying struct {
	*fakeRBD
	asked *int
}

func (d dying) ImageUsers(_ context.Context, _, _ string, ids []string) (map[string]ceph.ImageUse, error) {
	if *d.asked++; *d.asked > 3 {
		return nil, nil
	}
	return map[string]ceph.ImageUse{ids[0]: {Clients: []string{"10.0.0.1:0/1"}}}, nil
}

// TestDeadClient: a client that does not answer is waited for, and not taken for a living one.
func TestDeadClient(t *testing.T) {
	f := newFakeRBD()
	cluster{fakeRBD: f, id: "a"}.volume()
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	defer teardowntest.StepWhileWaiting(now, time.Second)()
	options := teardown.Options{InfraID: "a", Parallel: 1}
	asked := 0
	var out bytes.Buffer
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, dying{f, &asked}, now)}})
	if err != nil || report.Code() != teardown.CodeDone || len(f.images) != 0 {
		t.Errorf("code %d, %v\n%s", report.Code(), err, out.String())
	}
}

// restarted has a mgr that has not loaded its modules yet when it is first asked.
type restarted struct {
	*fakeRBD
	asked *int
}

func (r restarted) QueueTrashRemoval(ctx context.Context, image ceph.RBDImage) error {
	if *r.asked++; *r.asked == 1 {
		return ceph.ErrNotLoaded
	}
	return r.fakeRBD.QueueTrashRemoval(ctx, image)
}

// TestRestartedMgr: a mgr may be started anew while a run goes on.
func TestRestartedMgr(t *testing.T) {
	f := newFakeRBD()
	v := cluster{fakeRBD: f, id: "a"}.volume()
	v.Size = 4 << 40
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	defer teardowntest.StepWhileWaiting(now, time.Second)()
	options := teardown.Options{InfraID: "a", Parallel: 1}
	asked := 0
	var out bytes.Buffer
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, restarted{f, &asked}, now)}})
	if err != nil || report.Code() != teardown.CodeDone || len(f.images) != 0 || asked != 2 {
		t.Errorf("code %d after %d questions, %v\n%s", report.Code(), asked, err, out.String())
	}
}

// opened has a client that opens an image after the last look at all of them.
type opened struct {
	*fakeRBD
	image *ceph.RBDImage
	asked *int
}

func (o opened) ImageUsers(ctx context.Context, pool, namespace string, ids []string) (map[string]ceph.ImageUse, error) {
	if *o.asked++; *o.asked > 1 {
		o.users[o.image.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
	}
	return o.fakeRBD.ImageUsers(ctx, pool, namespace, ids)
}

// TestOpenedMeanwhile: a move to the trash would succeed.
func TestOpenedMeanwhile(t *testing.T) {
	f := newFakeRBD()
	v := cluster{fakeRBD: f, id: "a"}.volume()
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	defer teardowntest.StepWhileWaiting(now, busyPatience)()
	options := teardown.Options{InfraID: "a", Parallel: 1}
	asked := 0
	var out bytes.Buffer
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, opened{f, v, &asked}, now)}})
	if err != nil || report.Code() != teardown.CodeFailed || !v.Listed || !strings.Contains(out.String(), "opened meanwhile") {
		t.Errorf("code %d, listed %t, %v\n%s", report.Code(), v.Listed, err, out.String())
	}
}
