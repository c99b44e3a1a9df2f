package images

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// TestLimitedRunKeepsEarlierRecords: a run that is killed anywhere, one that is limited to another volume,
// and one that finishes: what the first wrote down is not lost.
func TestLimitedRunKeepsEarlierRecords(t *testing.T) {
	for dieAt := 1; ; dieAt++ {
		f := newFakeRBD()
		bystanders(f)
		want := f.left()
		belongings(f)
		f.dieAt = dieAt
		if report, _, err := run(t, f, nil, clock.RealClock{}); err == nil && report.Code() == teardown.CodeDone {
			return
		}
		f.dieAt = 0
		only, _ := ceph.ParseCSIName(cluster{fakeRBD: f, id: "a"}.volume().Name)
		limit := func(c *teardown.Config) { c.Volumes = []ceph.VolumeHandle{{UUID: only.UUID, LocationID: 1}} }
		if report, out, err := run(t, f, limit, clock.RealClock{}); err != nil || report.Code() != teardown.CodeDone {
			t.Fatalf("killed before change %d: the limited run: %d, %v\n%s", dieAt, report.Code(), err, out)
		}
		report, _, err := run(t, f, nil, clock.RealClock{})
		if got := f.left(); err != nil || report.Code() != teardown.CodeDone || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("killed before change %d: code %d, %v, left is\n%s\ninstead of\n%s", dieAt, report.Code(), err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// cutOff has the name of a run that was killed before it wrote anything.
type cutOff struct{ teardown.Recorder }

func (cutOff) Records(context.Context, string, string, string) (map[string][]byte, error) {
	return map[string][]byte{"r": nil}, nil
}

// TestCutOffRecord: nothing is known of such a run, and its name is removed with the others'.
func TestCutOffRecord(t *testing.T) {
	read := recorded{runs: map[string][]string{}}
	if err := read.read(t.Context(), cutOff{}, ceph.Pool{Name: "p"}, "a"); err != nil || !slices.Equal(read.runs["p"], []string{"r"}) {
		t.Errorf("%v, runs %v", err, read.runs)
	}
}
