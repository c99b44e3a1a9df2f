package subvolumes

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// group notes a snapshot of several volumes, as ceph-csi does: only in the journal. It returns its UUID.
func (t tenant) group(snapshots ...string) string {
	uuid := teardowntest.UUID()
	omap := map[string]string{"csi.groupname": "csi-vol-group-" + uuid, "csi.volname": "groupsnapshot-" + uuid, "csi.creationtime": "2026-01-01T00:00:00Z"}
	for _, s := range snapshots {
		omap[teardowntest.Handle(teardowntest.UUID())] = teardowntest.Handle(s)
	}
	directory := [2]string{journalNamespace, "csi.groups.default"}
	if t.omaps[directory] == nil {
		t.omaps[directory] = map[string]string{}
	}
	t.omaps[directory]["csi.volume.group.groupsnapshot-"+uuid] = uuid
	t.omaps[[2]string{journalNamespace, "csi.volume.group." + uuid}] = omap
	return uuid
}

// TestGroupDecisions: a group of snapshots is a journal alone, which names them.
func TestGroupDecisions(t *testing.T) {
	tests := map[string]fileCase{
		"All": {
			reason: "both of its snapshots go", lay: func(_ *fakeFiles, a, _ tenant) string { return a.group(a.snapshot(a.volume()), a.snapshot(a.volume())) },
			verdict: teardown.Remove, because: "all its snapshots go (2)",
		},
		"Gone": {
			reason: "one was deleted by hand", lay: func(_ *fakeFiles, a, _ tenant) string { return a.group(a.snapshot(a.volume()), teardowntest.UUID()) },
			verdict: teardown.Remove, because: "all its snapshots go (1)",
		},
		"Theirs": {
			reason: "its snapshots are another cluster's", lay: func(_ *fakeFiles, _, b tenant) string { return b.group(b.snapshot(b.volume()), b.snapshot(b.volume())) },
			verdict: "",
		},
		"Both": {
			reason: "nothing says whose it is", lay: func(_ *fakeFiles, a, b tenant) string { return a.group(a.snapshot(a.volume()), b.snapshot(b.volume())) },
			verdict: teardown.Keep, because: "stays",
		},
		"Untagged": {
			reason: "the operator was gone before it tagged its snapshots", verdict: teardown.Keep, because: "has no tag",
			lay: func(f *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				return a.group(f.bare(volume, a.snapshot(volume)))
			},
		},
		"Unfinished": {
			reason: "ceph-csi leaves it where Ceph is too old", lay: func(_ *fakeFiles, a, _ tenant) string { return a.group() },
			verdict: teardown.Keep, because: "nobody knows whose it was",
		},
		"Empty": {
			reason: "its snapshots are gone", lay: func(_ *fakeFiles, a, _ tenant) string { return a.group(teardowntest.UUID()) },
			verdict: teardown.Keep, because: "nobody knows whose it was",
		},
		"Recorded": {
			reason: "an earlier run was ended between the snapshot and the group", lay: func(f *fakeFiles, a, _ tenant) string {
				gone := teardowntest.UUID()
				f.records[recordObject("a")] = []byte(`{"version":1,"infraID":"a","entries":[{"kind":"subvolume snapshot","uuid":"` + gone + `","name":"y"}]}`)
				return a.group(gone)
			},
			verdict: teardown.Remove, because: "all its snapshots go (1)",
		},
		"Contradicting": {
			reason: "two requests have made it", lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.group(a.snapshot(a.volume()))
				f.omap("volume.group", uuid)["csi.volname"] = "groupsnapshot-other"
				return uuid
			},
			verdict: teardown.Keep, because: "contradict",
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.run)
	}
}
