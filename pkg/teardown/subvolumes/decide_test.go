package subvolumes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// fileCase is a layout, and what is to be decided on one item of it.
type fileCase struct {
	reason string
	// lay returns the UUID of the item.
	lay     func(f *fakeFiles, a, b tenant) string
	change  func(*teardown.Config)
	verdict teardown.Verdict // empty: not listed
	because string
	code    int
}

func (tc fileCase) run(t *testing.T) {
	f := newFakeFiles()
	uuid := tc.lay(f, tenant{f, "a"}, tenant{f, "b"})
	before := f.subvolumes["csi-vol-"+uuid] != nil
	report, err := tearDown(t, f, tc.change)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(report.Items, func(l teardown.Line) bool { return l.UUID == uuid })
	switch {
	case tc.verdict == "" && i >= 0:
		t.Errorf("%s: %+v", tc.reason, report.Items[i])
	case tc.verdict == "":
	case i < 0:
		t.Errorf("%s: not listed in %+v", tc.reason, report.Items)
	case report.Items[i].Verdict != tc.verdict || !strings.Contains(report.Items[i].Reason, tc.because):
		t.Errorf("%s: %s, %q", tc.reason, report.Items[i].Verdict, report.Items[i].Reason)
	}
	if report.Code() != tc.code {
		t.Errorf("%s: exit code %d", tc.reason, report.Code())
	}
	if left := f.subvolumes["csi-vol-"+uuid] != nil; before && left != (tc.verdict != teardown.Remove) {
		t.Errorf("%s: the subvolume is left: %v", tc.reason, left)
	}
}

func (f *fakeFiles) omap(kind, uuid string) map[string]string {
	return f.omaps[[2]string{journalNamespace, "csi." + kind + "." + uuid}]
}

func (f *fakeFiles) snap(volume, uuid string) *fakeSnapshot {
	return f.subvolumes["csi-vol-"+volume].snapshots["csi-snap-"+uuid]
}

func (f *fakeFiles) forget(kind, uuid string) {
	delete(f.omaps, [2]string{journalNamespace, "csi." + kind + "." + uuid})
	for _, directory := range f.omaps {
		for key, value := range directory {
			if value == uuid {
				delete(directory, key)
			}
		}
	}
}

// detached is a volume from which ceph-csi took the cluster's name.
func (f *fakeFiles) detached(uuid, owner string) string {
	metadata := f.subvolumes["csi-vol-"+uuid].metadata
	delete(metadata, ceph.TagCluster)
	metadata[ceph.TagOwner] = owner
	return uuid
}

func TestSubvolumeDecisions(t *testing.T) {
	named := func(i teardown.Item) bool { return true }
	tests := map[string]fileCase{
		"Volume": {
			reason: "tag, name and journal", lay: func(_ *fakeFiles, a, _ tenant) string { return a.volume() },
			verdict: teardown.Remove, because: "tagged, named by csi.volume.",
		},
		"Foreign": {
			reason: "another cluster's", lay: func(_ *fakeFiles, _, b tenant) string { return b.volume() },
		},
		"Detached": {
			reason: "ceph-csi takes its tag away with each detach, and the claim is gone", verdict: teardown.Remove, because: "tagged, named by csi.volume.",
			lay: func(f *fakeFiles, a, _ tenant) string { return f.detached(a.volume(), "a") },
		},
		"DetachedElsewhere": {
			reason: "of another cluster's volume, too", lay: func(f *fakeFiles, _, b tenant) string { return f.detached(b.volume(), "b") },
		},
		"TwoOwners": {
			reason: "half of what hands it to another cluster was done", verdict: teardown.Refuse, because: "its tags name two clusters: csi.ceph.com/cluster/name=b", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				metadata := f.subvolumes["csi-vol-"+uuid].metadata
				metadata[ceph.TagOwner], metadata[ceph.TagCluster] = "a", "b"
				return uuid
			},
		},
		"OwnedByAnother": {
			reason: "an operator before this one tagged what was another's", lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata[ceph.TagOwner] = "b"
				return uuid
			},
		},
		"NoJournal": {
			reason: "an administrator tagged it, or its journal is lost", verdict: teardown.Refuse, because: "no journal", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.forget("volume", uuid)
				return uuid
			},
		},
		"JournalElsewhere": {
			reason: "nobody said that ceph-csi's journals are there, too", verdict: teardown.Refuse, because: "no journal in the RADOS namespaces of ceph-csi names it (csi, elsewhere, tenant; --rados-namespace adds others)", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.omaps[[2]string{"other", "csi.volume." + uuid}] = f.omap("volume", uuid)
				f.forget("volume", uuid)
				return uuid
			},
		},
		"JournalOfAnother": {
			reason: "the journal names another subvolume", verdict: teardown.Refuse, because: "names", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.omap("volume", uuid)["csi.imagename"] = "csi-vol-" + teardowntest.UUID()
				return uuid
			},
		},
		"Contradiction": {
			reason: "the halves of the journal disagree", verdict: teardown.Refuse, because: "contradict", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.omaps[[2]string{"elsewhere", "csi.volume." + uuid}] = map[string]string{"csi.volname": "pvc-other"}
				return uuid
			},
		},
		"WrongKind": {
			reason: "a tag without the PersistentVolume's name: unfinished", verdict: teardown.Refuse, because: "unfinished", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				delete(f.subvolumes["csi-vol-"+uuid].metadata, ceph.TagPV)
				return uuid
			},
		},
		"Untagged": {
			reason: "killed before it was tagged, or made before tagging", verdict: teardown.Keep, because: "nobody knows whose",
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata = map[string]string{}
				return uuid
			},
		},
		"UntaggedButNamed": {
			reason: "the cluster's own PersistentVolume names it", verdict: teardown.Remove, because: "and an object of the cluster name it", change: func(c *teardown.Config) { c.Ours = named },
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata = map[string]string{}
				return uuid
			},
		},
		"UntaggedButMounted": {
			reason: "the cluster's own PersistentVolume names it, and a client has it mounted", verdict: teardown.Refuse, because: "mounted at n1", code: teardown.CodeRefused,
			change: func(c *teardown.Config) { c.Ours = named },
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata = map[string]string{}
				f.clients = []ceph.FileClient{{Entity: "client.x", Host: "n1", Root: "/volumes/csi/csi-vol-" + uuid + "/1"}}
				return uuid
			},
		},
		"Retain": {
			reason: "marked", verdict: teardown.Keep, because: "--include-retained",
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata[ceph.TagRetain] = ceph.RetainMark
				return uuid
			},
		},
		"RetainIncluded": {
			reason: "marked, and asked for", verdict: teardown.Remove, change: func(c *teardown.Config) { c.IncludeRetained = true },
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].metadata[ceph.TagRetain] = ceph.RetainMark
				return uuid
			},
		},
		"Claimed": {
			reason: "both clusters think that it is theirs", verdict: teardown.Refuse, because: "PersistentVolume pv of cluster b names it", code: teardown.CodeRefused,
			change: func(c *teardown.Config) {
				c.Claimed = func(teardown.Item) string { return "PersistentVolume pv of cluster b" }
			},
			lay: func(_ *fakeFiles, a, _ tenant) string { return a.volume() },
		},
		"Mounted": {
			reason: "a client has it mounted", verdict: teardown.Refuse, because: "mounted at n1", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.clients = []ceph.FileClient{{Entity: "client.x", Host: "n1", Root: "/volumes/csi/csi-vol-" + uuid + "/1"}, {Host: "mgr", Root: "/"}}
				return uuid
			},
		},
		"CopiedFrom": {
			reason: "somebody makes a clone of it just now", verdict: teardown.Refuse, because: "clone is being made", code: teardown.CodeRefused,
			lay: func(_ *fakeFiles, a, b tenant) string {
				uuid := a.volume()
				b.clone(uuid)
				return uuid
			},
		},
		"CloneInFlight": {
			reason: "it has no tag yet", verdict: teardown.Keep, because: "clone in flight", code: teardown.CodeRefused,
			lay: func(_ *fakeFiles, a, _ tenant) string { return a.clone(a.volume()) },
		},
		"NotSelected": {
			reason: "the run is limited to another volume", change: func(c *teardown.Config) { c.Volumes = []ceph.VolumeHandle{{UUID: teardowntest.UUID(), LocationID: 1}} },
			lay: func(_ *fakeFiles, a, _ tenant) string { return a.volume() },
		},
		"Broken": {
			reason: "the mgr cannot read its metadata, which must not keep others", verdict: teardown.Refuse, because: "cannot be read", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				a.volume()
				uuid := a.volume()
				f.subvolumes["csi-vol-"+uuid].state = "broken"
				return uuid
			},
		},
		"SnapshotStays": {
			reason: "its own snapshot cannot go", verdict: teardown.Refuse, because: "its snapshot", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, _ tenant) string {
				uuid := a.volume()
				f.forget("snap", a.snapshot(uuid))
				return uuid
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.run)
	}
}

func TestUnreadableSnapshots(t *testing.T) {
	f := newFakeFiles()
	a := tenant{f, "a"}
	volume := a.volume()
	snapshot := a.snapshot(volume)
	a.deleted(volume)
	f.blind = errors.New("no mds caps")
	report, err := tearDown(t, f, nil)
	if err != nil || len(report.Items) != 1 || report.Items[0].UUID != snapshot || report.Items[0].Verdict != teardown.Refuse || !strings.Contains(report.Items[0].Reason, "no mds caps") {
		t.Errorf("%v: %+v", err, report)
	}
}
