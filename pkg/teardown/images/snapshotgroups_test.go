package images

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// snapshots notes a snapshot of several volumes, as ceph-csi leaves it: without rbd group, only in the journal. It
// returns its UUID.
func (c cluster) snapshots(members ...*ceph.RBDImage) string {
	uuid := teardowntest.UUID()
	omap := map[string]string{"csi.groupname": "csi-vol-group-" + uuid, "csi.volname": "groupsnapshot-" + uuid, "csi.creationtime": "2026-01-01T00:00:00Z"}
	for _, m := range members {
		name, _ := ceph.ParseCSIName(m.Name)
		omap[teardowntest.Handle(name.UUID)] = m.Name
		c.write(c.namespace, "csi.snap."+name.UUID, map[string]string{"csi.groupid": teardowntest.Handle(uuid)})
	}
	c.write(c.namespace, "csi.groups.default", map[string]string{"csi.volume.group.groupsnapshot-" + uuid: uuid})
	c.write(c.namespace, "csi.volume.group."+uuid, omap)
	return uuid
}

// taken is a snapshot of a volume of its own.
func (c cluster) taken() *ceph.RBDImage { return c.snapshot(c.volume()) }

// never is a snapshot that is gone.
func never() *ceph.RBDImage { return &ceph.RBDImage{Name: "csi-snap-" + teardowntest.UUID()} }

// recordGone has an earlier run have removed a snapshot.
func (c cluster) recordGone(i *ceph.RBDImage, journals string) {
	c.records[[3]string{"rbd", recordObject(c.id), "r"}] = []byte(`{"version":1,"images":[{"id":"ff","name":"` + i.Name + `"}]` + journals + `}`)
}

// TestSnapshotGroupDecisions: a group of snapshots is a journal alone, which names them. Each case returns the group's UUID.
func TestSnapshotGroupDecisions(t *testing.T) {
	tests := map[string]struct {
		reason string
		lay    func(a, b cluster) string
		change func(*teardown.Config)
		want   teardown.Verdict // empty: not listed
		says   string
	}{
		"All": {
			reason: "both of its snapshots go", lay: func(a, _ cluster) string { return a.snapshots(a.taken(), a.taken()) },
			want: teardown.Remove, says: "all its snapshots go (2)",
		},
		"Gone": {
			reason: "one was deleted by hand", lay: func(a, _ cluster) string { return a.snapshots(a.taken(), never()) },
			want: teardown.Remove, says: "all its snapshots go (1)",
		},
		"Theirs": {reason: "its snapshots are another cluster's", lay: func(_, b cluster) string { return b.snapshots(b.taken(), b.taken()) }},
		"Both": {
			reason: "nothing says whose it is", lay: func(a, b cluster) string { return a.snapshots(a.taken(), b.taken()) },
			want: teardown.Keep, says: "stays",
		},
		"Retained": {
			reason: "a snapshot of it is to outlive the cluster", lay: func(a, _ cluster) string { return a.snapshots(a.taken(), retained(a.taken())) },
			want: teardown.Keep, says: "stays",
		},
		"Unfinished": {reason: "ceph-csi was ended before it took the snapshots", lay: func(a, _ cluster) string { return a.snapshots() }},
		"Empty":      {reason: "its snapshots are gone, and nobody knows whose it was", lay: func(a, _ cluster) string { return a.snapshots(never()) }},
		"Volumes": {
			reason: "a group of volumes that lacks its rbd group for a moment", lay: func(a, _ cluster) string {
				uuid, name := a.snapshots(), ceph.CSIName{}
				name, _ = ceph.ParseCSIName(a.volume().Name)
				a.write("", "csi.volume.group."+uuid, map[string]string{teardowntest.Handle(name.UUID): ""})
				return uuid
			},
		},
		"Recorded": {
			reason: "an earlier run was ended between the snapshot and the group", lay: func(a, _ cluster) string {
				gone := never()
				a.recordGone(gone, "")
				return a.snapshots(gone)
			},
			want: teardown.Remove, says: "all its snapshots go (1)",
		},
		"Key": {
			reason: "an earlier run was ended between the group's object and its key", lay: func(a, _ cluster) string {
				gone := never()
				uuid := a.snapshots(gone)
				delete(a.journals, [3]string{"rbd", "", "csi.volume.group." + uuid})
				a.recordGone(gone, `,"journals":["`+uuid+`"]`)
				return uuid
			},
			want: teardown.Remove, says: "recorded by an earlier run",
		},
		"Contradicting": {
			reason: "two requests have made it", lay: func(a, _ cluster) string {
				uuid := a.snapshots(a.taken())
				a.write("", "csi.volume.group."+uuid, map[string]string{"csi.volname": "groupsnapshot-other"})
				return uuid
			},
			want: teardown.Keep, says: "contradict",
		},
		"OtherPool": {
			reason: "--pool limits the run", lay: func(a, _ cluster) string { return a.snapshots(a.taken()) },
			change: func(c *teardown.Config) { c.Pools = []string{"other"} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeRBD()
			uuid := tc.lay(cluster{fakeRBD: f, id: "a"}, cluster{fakeRBD: f, id: "b"})
			report, out, err := run(t, f, tc.change, clock.RealClock{})
			if err != nil || report.Code() != teardown.CodeDone {
				t.Fatalf("%s: code %d, %v\n%s", tc.reason, report.Code(), err, out)
			}
			var got teardown.Decision
			for _, l := range report.Items {
				if l.UUID == uuid {
					got = l.Decision
				}
			}
			if got.Verdict != tc.want || !strings.Contains(got.Reason, tc.says) {
				t.Errorf("%s: %q: %q\n%s", tc.reason, got.Verdict, got.Reason, out)
			}
			if there := f.knows(uuid); there != (tc.want != teardown.Remove) {
				t.Errorf("%s: the journal is there: %t\n%s", tc.reason, there, out)
			}
		})
	}
}

// knows says whether an object or a key is left of a group's journal.
func (f *fakeRBD) knows(uuid string) bool {
	return slices.ContainsFunc(f.left(), func(line string) bool {
		return strings.HasPrefix(line, "journal") && strings.Contains(line, "group") && !strings.Contains(line, "csi.groupid") && strings.Contains(line, uuid)
	})
}

// TestSnapshotGroupOfWhatFailed stays for the next run.
func TestSnapshotGroupOfWhatFailed(t *testing.T) {
	f := newFakeRBD()
	a := cluster{fakeRBD: f, id: "a"}
	s := a.taken()
	uuid := a.snapshots(s, a.taken())
	options := teardown.Options{InfraID: "a", Parallel: 1}
	var out bytes.Buffer
	report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Out: &out, Parts: []teardown.Part{New(options, stubborn{f, s.Name}, clock.RealClock{})}})
	if err != nil || report.Code() != teardown.CodeFailed || !f.knows(uuid) || len(f.records) != 1 || !strings.Contains(out.String(), "its snapshot "+s.Name+" could not be removed") {
		t.Fatalf("code %d, %v, %d records\n%s", report.Code(), err, len(f.records), out.String())
	}
	again, text, err := run(t, f, nil, clock.RealClock{})
	if err != nil || again.Code() != teardown.CodeDone || f.knows(uuid) || len(f.records) != 0 {
		t.Errorf("again: code %d, %v\n%s", again.Code(), err, text)
	}
}

// TestSnapshotGroupsOfInstances: with an --instanceid, the keys are in no usual directory; a run that is killed anywhere
// is finished all the same.
func TestSnapshotGroupsOfInstances(t *testing.T) {
	for dieAt := 1; ; dieAt++ {
		f := newFakeRBD()
		a := cluster{fakeRBD: f, id: "a"}
		a.snapshots(a.taken())
		for _, renamed := range []string{"csi.volumes.", "csi.snaps.", "csi.groups."} {
			usual, own := [3]string{"rbd", "", renamed + "default"}, [3]string{"rbd", "", renamed + "shop"}
			f.journals[own] = f.journals[usual]
			delete(f.journals, usual)
		}
		f.dieAt = dieAt
		if report, _, err := run(t, f, nil, clock.RealClock{}); err == nil && report.Code() == teardown.CodeDone {
			return
		}
		f.dieAt = 0
		_, out, err := run(t, f, nil, clock.RealClock{})
		groups := slices.DeleteFunc(f.left(), func(line string) bool { return !strings.Contains(line, "group") })
		if err != nil || len(groups) > 0 {
			t.Fatalf("killed before change %d: %v, left %v\n%s", dieAt, err, groups, out)
		}
	}
}
