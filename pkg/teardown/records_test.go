package teardown

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestLimitedRunKeepsEarlierRecords: a run that is killed anywhere, one that is limited to another volume,
// and one that finishes: what the first wrote down is not lost.
func TestLimitedRunKeepsEarlierRecords(t *testing.T) {
	t.Run("Images", func(t *testing.T) {
		for dieAt := 1; ; dieAt++ {
			f := newFakeRBD()
			bystanders(f)
			want := f.left()
			belongings(f)
			f.dieAt = dieAt
			if report, _, err := runImages(t, f, nil, clock.RealClock{}); err == nil && report.Code() == CodeDone {
				return
			}
			f.dieAt = 0
			only, _ := ceph.ParseCSIName(cluster{fakeRBD: f, id: "a"}.volume().Name)
			limit := func(c *Config) { c.Volumes = []ceph.VolumeHandle{{UUID: only.UUID, LocationID: 1}} }
			if report, out, err := runImages(t, f, limit, clock.RealClock{}); err != nil || report.Code() != CodeDone {
				t.Fatalf("killed before change %d: the limited run: %d, %v\n%s", dieAt, report.Code(), err, out)
			}
			report, _, err := runImages(t, f, nil, clock.RealClock{})
			if got := f.left(); err != nil || report.Code() != CodeDone || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("killed before change %d: code %d, %v, left is\n%s\ninstead of\n%s", dieAt, report.Code(), err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	})
	t.Run("Files", func(t *testing.T) {
		for steps := 0; ; steps++ {
			f, before := layout(t)
			f.steps = steps
			if report, err := tearDown(t, f, nil); err == nil && report.Code() == CodeDone {
				return
			}
			f.steps = -1
			only := tenant{f, "a"}.volume()
			limit := func(o *Options) { o.Volumes = []ceph.VolumeHandle{{UUID: only, LocationID: 1}} }
			if report, err := tearDown(t, f, limit); err != nil || report.Code() != CodeDone {
				t.Fatalf("killed after %d changes: the limited run: %v, %+v", steps, err, report)
			}
			report, err := tearDown(t, f, nil)
			if after := dump(t, f); err != nil || report.Code() != CodeDone || after != before {
				t.Fatalf("killed after %d changes: %v, left is\n%s\ninstead of\n%s", steps, err, after, before)
			}
		}
	})
}

// cutOff has the name of a run that was killed before it wrote anything.
type cutOff struct{ Recorder }

func (cutOff) Records(context.Context, string, string, string) (map[string][]byte, error) {
	return map[string][]byte{"r": nil}, nil
}

// TestCutOffRecord: nothing is known of such a run, and its name is removed with the others'.
func TestCutOffRecord(t *testing.T) {
	images := recorded{runs: map[string][]string{}}
	if err := images.read(t.Context(), cutOff{}, ceph.Pool{Name: "p"}, "a"); err != nil || !slices.Equal(images.runs["p"], []string{"r"}) {
		t.Errorf("images: %v, runs %v", err, images.runs)
	}
	files, err := readFilesRecord(t.Context(), cutOff{}, "p", "a")
	if err != nil || !slices.Equal(files.runs, []string{"r"}) || len(files.Entries) > 0 {
		t.Errorf("files: %v, %+v", err, files)
	}
}
