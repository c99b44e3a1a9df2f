package subvolumes

import (
	"context"
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// TestLimitedRunKeepsEarlierRecords: a run that is killed anywhere, one that is limited to another volume,
// and one that finishes: what the first wrote down is not lost.
func TestLimitedRunKeepsEarlierRecords(t *testing.T) {
	for steps := 0; ; steps++ {
		f, before := layout(t)
		f.steps = steps
		if report, err := tearDown(t, f, nil); err == nil && report.Code() == teardown.CodeDone {
			return
		}
		f.steps = -1
		only := tenant{f, "a"}.volume()
		limit := func(c *teardown.Config) { c.Volumes = []ceph.VolumeHandle{{UUID: only, LocationID: 1}} }
		if report, err := tearDown(t, f, limit); err != nil || report.Code() != teardown.CodeDone {
			t.Fatalf("killed after %d changes: the limited run: %v, %+v", steps, err, report)
		}
		report, err := tearDown(t, f, nil)
		if after := dump(t, f); err != nil || report.Code() != teardown.CodeDone || after != before {
			t.Fatalf("killed after %d changes: %v, left is\n%s\ninstead of\n%s", steps, err, after, before)
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
	read, err := readRecords(t.Context(), cutOff{}, "p", "a")
	if err != nil || !slices.Equal(read.runs, []string{"r"}) || len(read.Entries) > 0 {
		t.Errorf("%v, %+v", err, read)
	}
}
