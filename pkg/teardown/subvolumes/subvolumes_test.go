package subvolumes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// tearDown runs the teardown of cluster a.
func tearDown(t *testing.T, f *fakeFiles, change func(*teardown.Config)) (*teardown.Report, error) {
	t.Helper()
	config := teardown.Config{Options: teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces}, Out: &bytes.Buffer{}}
	if change != nil {
		change(&config)
	}
	config.Parts = []teardown.Part{New(Config{
		Options: config.Options, Ceph: f, Clock: clock.RealClock{},
		Manager: func(context.Context) (Manager, error) { return f, nil },
		Mount: func(context.Context, string) (Mount, error) {
			if f.blind != nil {
				return nil, f.blind
			}
			return fakeMount{fakeFiles: f}, nil
		},
	})}
	return teardown.Run(t.Context(), config)
}

// dump is everything there is, but for what run-of-the-mill deletion leaves behind.
func dump(t *testing.T, f *fakeFiles) string {
	t.Helper()
	type all struct {
		Subvolumes map[string]any
		Omaps      map[string]map[string]string
		References map[string]ceph.RefTracker
		Records    []string
	}
	out := all{map[string]any{}, map[string]map[string]string{}, map[string]ceph.RefTracker{}, slices.Sorted(maps.Keys(f.records))}
	for name, s := range f.subvolumes {
		snapshots := map[string]any{}
		for name, snap := range s.snapshots {
			snapshots[name] = snap.metadata
		}
		out.Subvolumes[name] = map[string]any{"state": s.state, "metadata": s.metadata, "snapshots": snapshots}
	}
	for at, omap := range f.omaps {
		out.Omaps[at[0]+"/"+at[1]] = omap
	}
	for at, tracker := range f.references {
		out.References[at[0]+"/"+at[1]] = tracker
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// layout makes volumes of two clusters, first b's alone, so that what is left can be compared.
func layout(t *testing.T) (f *fakeFiles, before string) {
	f = newFakeFiles()
	a, b := tenant{f, "a"}, tenant{f, "b"}
	for _, kind := range []string{"volume", "snap"} {
		f.omaps[[2]string{journalNamespace, "csi." + kind + "s.default"}] = map[string]string{}
	}
	volumeB := b.volume()
	b.shallow(b.snapshot(volumeB))
	gone := b.volume()
	b.snapshot(gone)
	b.deleted(gone)
	b.group(b.snapshot(volumeB), b.snapshot(b.volume()))
	before = dump(t, f)

	volume := a.volume()
	a.shallow(a.snapshot(volume))
	a.group(a.snapshot(volume), a.snapshot(a.volume()))
	a.snapshot(volumeB)
	a.snapshot(gone)
	gone = a.volume()
	a.snapshot(gone)
	a.deleted(gone)
	// Halves of a journal in two namespaces.
	scattered := a.volume()
	object := [2]string{journalNamespace, "csi.volume." + scattered}
	f.omaps[[2]string{"tenant", object[1]}] = map[string]string{"csi.volume.owner": "shop"}
	delete(f.omaps[object], "csi.volume.owner")
	return f, before
}

func TestFilesAreRemoved(t *testing.T) {
	f, before := layout(t)
	report, err := tearDown(t, f, nil)
	if err != nil || report.Code() != teardown.CodeDone {
		t.Fatalf("%v, %+v", err, report)
	}
	if after := dump(t, f); after != before {
		t.Errorf("left is\n%s\ninstead of\n%s", after, before)
	}
	report, err = tearDown(t, f, nil)
	if err != nil || report.Code() != teardown.CodeDone || len(report.Items) != 0 {
		t.Errorf("a second run: %v, %+v", err, report)
	}
}

func TestFilesKilledAnywhere(t *testing.T) {
	whole, _ := layout(t)
	if _, err := tearDown(t, whole, nil); err != nil {
		t.Fatal(err)
	}
	for steps := range whole.writes {
		f, before := layout(t)
		f.steps = steps
		_, _ = tearDown(t, f, func(c *teardown.Config) { c.Parallel = 1 })
		f.steps = -1
		report, err := tearDown(t, f, nil)
		if err != nil || report.Code() != teardown.CodeDone {
			t.Fatalf("killed after %d changes: %v, %+v", steps, err, report)
		}
		if after := dump(t, f); after != before {
			t.Fatalf("killed after %d changes: left is\n%s\ninstead of\n%s", steps, after, before)
		}
	}
}

func TestDryRunOfFilesChangesNothing(t *testing.T) {
	f, _ := layout(t)
	before := dump(t, f)
	report, err := tearDown(t, f, func(c *teardown.Config) { c.DryRun = true })
	removes := slices.ContainsFunc(report.Items, func(l teardown.Line) bool { return l.Verdict == teardown.Remove })
	if err != nil || !removes || f.writes != 0 || dump(t, f) != before {
		t.Errorf("%v: something is to be removed: %t, %d writes", err, removes, f.writes)
	}
}

// TestForeignSnapshotKeepsSubvolume: the data goes, the other cluster's snapshot stays.
func TestForeignSnapshotKeepsSubvolume(t *testing.T) {
	f := newFakeFiles()
	a, b := tenant{f, "a"}, tenant{f, "b"}
	volume := a.volume()
	snapshot := b.snapshot(volume)
	report, err := tearDown(t, f, nil)
	if err != nil || report.Code() != teardown.CodeDone || len(report.Items) != 1 || !strings.Contains(report.Items[0].Note, "foreign") {
		t.Fatalf("%v, %+v", err, report)
	}
	s := f.subvolumes["csi-vol-"+volume]
	if s == nil || s.state != ceph.SubvolumeRetained || s.snapshots["csi-snap-"+snapshot] == nil {
		t.Errorf("the subvolume is %+v", s)
	}
	if _, left := f.omaps[[2]string{journalNamespace, "csi.volume." + volume}]; left || len(f.records) > 0 {
		t.Errorf("journal or record are left: %v", f.records)
	}
}

func TestFilesCannotBeSeen(t *testing.T) {
	f, _ := layout(t)
	before := dump(t, f)
	f.blind = ceph.ErrDenied
	report, err := tearDown(t, f, nil)
	if err != nil || report.Code() != teardown.CodeRefused || dump(t, f) != before {
		t.Errorf("nobody knows who has it mounted: %v, %+v", err, report)
	}
	f.inactive = true
	if _, err := tearDown(t, f, nil); err == nil || !strings.Contains(err.Error(), "no active MDS") {
		t.Errorf("without an MDS: %v", err)
	}
	f.inactive = false
	if _, err := tearDown(t, f, func(c *teardown.Config) { c.InfraID = " " }); !errors.Is(err, teardown.ErrNoInfraID) || dump(t, f) != before {
		t.Errorf("without an infra ID: %v", err)
	}
	f.records[recordObject("a")] = []byte(`{"version":1,"infraID":"b"}`)
	if _, err := tearDown(t, f, nil); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("somebody else's record: %v", err)
	}
}
