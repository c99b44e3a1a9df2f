package subvolumes

import (
	"maps"
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// retain marks a shallow volume as the operator does.
func (f *fakeFiles) retain(volume, snapshot, shallow string) {
	f.snap(volume, snapshot).metadata[ceph.TagRetainShown(shallow)] = ceph.RetainMark
}

// bare is a snapshot without tags, as ceph-csi makes those of a group.
func (f *fakeFiles) bare(volume, snapshot string) string {
	f.snap(volume, snapshot).metadata = map[string]string{}
	return snapshot
}

func TestSnapshotDecisions(t *testing.T) {
	named := func(c *teardown.Config) { c.Ours = func(teardown.Item) bool { return true } }
	untagged := func(f *fakeFiles, a, b tenant) string {
		volume := b.volume()
		return f.bare(volume, a.snapshot(volume))
	}
	tests := map[string]fileCase{
		"OnForeignVolume": {
			reason: "ours, on another cluster's volume", verdict: teardown.Remove,
			lay: func(_ *fakeFiles, a, b tenant) string { return a.snapshot(b.volume()) },
		},
		"OfRemovedVolume": {
			reason: "its tag is in the file alone", verdict: teardown.Remove,
			lay: func(_ *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				snapshot := a.snapshot(volume)
				a.deleted(volume)
				return snapshot
			},
		},
		"Foreign": {
			reason: "another cluster's, on our volume",
			lay:    func(_ *fakeFiles, a, b tenant) string { return b.snapshot(a.volume()) },
		},
		"Untagged": {
			reason: "the operator was gone before it tagged it", verdict: teardown.Keep, because: "nobody knows whose",
			lay: func(f *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				return f.bare(volume, a.snapshot(volume))
			},
		},
		"UntaggedByHand": {
			reason: "no journal names it: an administrator made it",
			lay: func(f *fakeFiles, a, b tenant) string {
				snapshot := untagged(f, a, b)
				f.forget("snap", snapshot)
				return snapshot
			},
		},
		"UntaggedButNamed": {
			reason: "the cluster's own VolumeSnapshotContent names it", verdict: teardown.Remove, because: "and an object of the cluster name it", change: named,
			lay: untagged,
		},
		"UntaggedRetained": {
			reason: "that one says deletionPolicy Retain", verdict: teardown.Keep, because: "deletionPolicy Retain; --include-retained",
			change: func(c *teardown.Config) {
				named(c)
				c.Retained = func(i teardown.Item) bool { return i.Kind == teardown.SubvolumeSnapshot }
			},
			lay: untagged,
		},
		"UntaggedRecorded": {
			reason: "an earlier run was ended, and the cluster is gone", verdict: teardown.Remove, because: "and the record of an earlier run name it",
			lay: func(f *fakeFiles, a, b tenant) string {
				snapshot := untagged(f, a, b)
				f.records[recordObject("a")] = []byte(`{"version":1,"infraID":"a","entries":[{"kind":"subvolume snapshot","uuid":"` + snapshot + `","name":"y"}]}`)
				return snapshot
			},
		},
		"UntaggedCopied": {
			reason: "a restore is being made of it", verdict: teardown.Refuse, because: "fs clone cancel", code: teardown.CodeRefused, change: named,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := f.bare(volume, a.snapshot(volume))
				f.snap(volume, snapshot).copied = true
				return snapshot
			},
		},
		"Mounted": {
			reason: "a PersistentVolume of somebody's shows it", verdict: teardown.Refuse, because: "it is mounted at n1", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.clients = []ceph.FileClient{{Entity: "client.x", Host: "n1", Root: "/volumes/csi/csi-vol-" + volume + "/data/.snap/_csi-snap-" + snapshot + "_1099511627776"}}
				return snapshot
			},
		},
		"OtherMounted": {
			reason: "another snapshot is", verdict: teardown.Remove,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				f.clients = []ceph.FileClient{{Entity: "client.x", Host: "n1", Root: "/volumes/csi/csi-vol-" + volume + "/.snap/csi-snap-" + b.snapshot(volume)}}
				return a.snapshot(volume)
			},
		},
		"UntaggedOfAnother": {
			reason: "named, and its journal is of a snapshot of another volume", verdict: teardown.Refuse, because: "says that it is of", code: teardown.CodeRefused, change: named,
			lay: func(f *fakeFiles, a, b tenant) string {
				snapshot := untagged(f, a, b)
				f.omap("snap", snapshot)["csi.source"] = "csi-vol-" + teardowntest.UUID()
				return snapshot
			},
		},
		"WrongSource": {
			reason: "the journal is of a snapshot of another volume", verdict: teardown.Refuse, because: "says that it is of", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				snapshot := a.snapshot(b.volume())
				f.omap("snap", snapshot)["csi.source"] = "csi-vol-" + teardowntest.UUID()
				return snapshot
			},
		},
		"WrongKind": {
			reason: "no VolumeSnapshotContent", verdict: teardown.Refuse, because: "unfinished", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				delete(f.snap(volume, snapshot).metadata, ceph.TagSnapshotContent)
				return snapshot
			},
		},
		"Retain": {
			reason: "marked", verdict: teardown.Keep, because: "deletionPolicy Retain; --include-retained",
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.snap(volume, snapshot).metadata[ceph.TagRetain] = ceph.RetainMark
				return snapshot
			},
		},
		"RetainIncluded": {
			reason: "marked, and asked for", verdict: teardown.Remove, change: func(c *teardown.Config) { c.IncludeRetained = true },
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.snap(volume, snapshot).metadata[ceph.TagRetain] = ceph.RetainMark
				return snapshot
			},
		},
		"VolumeOfRetained": {
			reason: "what a kept snapshot needs is kept as well", verdict: teardown.Keep, because: "its snapshot csi-snap-",
			lay: func(f *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				f.snap(volume, a.snapshot(volume)).metadata[ceph.TagRetain] = ceph.RetainMark
				return volume
			},
		},
		"ShownByRetained": {
			reason: "what a kept volume shows is kept as well", verdict: teardown.Keep, because: "shows it, and stays: its PersistentVolume said",
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.retain(volume, snapshot, a.shallow(snapshot))
				return snapshot
			},
		},
		"VolumeOfShownByRetained": {
			reason: "and so is what that needs", verdict: teardown.Keep, because: "its snapshot csi-snap-",
			lay: func(f *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				snapshot := a.snapshot(volume)
				f.retain(volume, snapshot, a.shallow(snapshot))
				return volume
			},
		},
		"Copied": {
			reason: "a restore is being made of it", verdict: teardown.Refuse, because: "fs clone cancel", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.snap(volume, snapshot).copied = true
				return snapshot
			},
		},
		"ShownByStranger": {
			reason: "the references name a volume without a journal", verdict: teardown.Refuse, because: "shows it, and stays", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				snapshot := a.snapshot(b.volume())
				f.forget("volume", a.shallow(snapshot))
				return snapshot
			},
		},
		"ShownByClaimed": {
			reason: "another cluster's PersistentVolume names the shallow volume", verdict: teardown.Refuse, because: "shallow volume", code: teardown.CodeRefused,
			change: func(c *teardown.Config) {
				c.Claimed = func(i teardown.Item) string {
					return map[bool]string{true: "PersistentVolume pv of cluster b"}[i.Kind == teardown.ShallowVolume]
				}
			},
			lay: func(_ *fakeFiles, a, b tenant) string {
				snapshot := a.snapshot(b.volume())
				b.shallow(snapshot)
				return snapshot
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.run)
	}
}

func TestShallowDecisions(t *testing.T) {
	shallow := func(_ *fakeFiles, a, b tenant) string { return a.shallow(a.snapshot(b.volume())) }
	tests := map[string]fileCase{
		"Shallow": {reason: "its snapshot is ours", lay: shallow, verdict: teardown.Remove, because: "shows csi-snap-"},
		"Foreign": {
			reason: "its snapshot is another cluster's",
			lay:    func(_ *fakeFiles, a, b tenant) string { return b.shallow(b.snapshot(a.volume())) },
		},
		"TwoOwners": {
			reason: "half of what hands its snapshot to another cluster was done", verdict: teardown.Refuse, because: "the tags of its snapshot name two clusters", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				metadata := f.snap(volume, snapshot).metadata
				metadata[ceph.TagOwner], metadata[ceph.TagCluster] = "a", "b"
				return a.shallow(snapshot)
			},
		},
		"UntaggedButNamed": {
			reason: "the cluster's own PersistentVolume names it, and its snapshot has no tag", verdict: teardown.Remove, because: "and an object of the cluster names it",
			change: func(c *teardown.Config) { c.Ours = func(teardown.Item) bool { return true } },
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				return a.shallow(f.bare(volume, a.snapshot(volume)))
			},
		},
		"OtherNamespace": {
			reason: "a VolumeSnapshot can be restored in its own namespace only", verdict: teardown.Refuse, because: "perhaps another cluster's", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) string {
				uuid := shallow(f, a, b)
				f.omap("volume", uuid)["csi.volume.owner"] = "elsewhere"
				return uuid
			},
		},
		"OtherNamespaceNamed": {
			reason: "the cluster's PersistentVolume names it: a backup was bound in its namespace", verdict: teardown.Remove,
			change: func(c *teardown.Config) { c.Ours = func(teardown.Item) bool { return true } },
			lay: func(f *fakeFiles, a, b tenant) string {
				uuid := shallow(f, a, b)
				f.omap("volume", uuid)["csi.volume.owner"] = "elsewhere"
				return uuid
			},
		},
		"NotNamed": {
			reason: "the cluster's PersistentVolumes are known, and none names it", lay: shallow, verdict: teardown.Refuse, because: "no PersistentVolume", code: teardown.CodeRefused,
			change: func(c *teardown.Config) {
				c.Ours = func(i teardown.Item) bool { return i.Kind != teardown.ShallowVolume }
			},
		},
		"Named": {
			reason: "one names it", lay: shallow, verdict: teardown.Remove, change: func(c *teardown.Config) { c.Ours = func(teardown.Item) bool { return true } },
		},
		"Mounted": {
			reason: "a node mounts the subvolume and shows its snapshot", verdict: teardown.Refuse, because: "mounted at node-1", code: teardown.CodeRefused,
			change: func(c *teardown.Config) { c.Force = true },
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				f.clients = []ceph.FileClient{{Entity: "client.n", Host: "node-1", Root: "/volumes/csi/csi-vol-" + volume + "/data"}}
				return a.shallow(a.snapshot(volume))
			},
		},
		"MountedRetained": {
			reason: "the subvolume was deleted, and its snapshot is mounted", verdict: teardown.Refuse, because: "mounted at node-1", code: teardown.CodeRefused,
			change: func(c *teardown.Config) { c.Force = true },
			lay: func(f *fakeFiles, a, _ tenant) string {
				volume := a.volume()
				snapshot := a.snapshot(volume)
				a.deleted(volume)
				f.clients = []ceph.FileClient{{Entity: "client.n", Host: "node-1", Root: "/volumes/csi/csi-vol-" + volume + "/.snap/csi-snap-" + snapshot + "/data"}}
				return a.shallow(snapshot)
			},
		},
		"Retain": {
			reason: "marked, on its snapshot", verdict: teardown.Keep, because: "reclaimPolicy Retain; --include-retained",
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				uuid := a.shallow(snapshot)
				f.retain(volume, snapshot, uuid)
				return uuid
			},
		},
		"RetainIncluded": {
			reason: "marked, and asked for", verdict: teardown.Remove, change: func(c *teardown.Config) { c.IncludeRetained = true },
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				uuid := a.shallow(snapshot)
				f.retain(volume, snapshot, uuid)
				return uuid
			},
		},
		"RetainOther": {
			reason: "another volume that shows the same snapshot is marked", verdict: teardown.Remove,
			lay: func(f *fakeFiles, a, b tenant) string {
				volume := b.volume()
				snapshot := a.snapshot(volume)
				f.retain(volume, snapshot, a.shallow(snapshot))
				return a.shallow(snapshot)
			},
		},
		"NoSnapshot": {
			reason: "nothing tells whose it is", verdict: teardown.Keep, because: "nobody knows",
			lay: func(_ *fakeFiles, a, _ tenant) string { return a.shallow(teardowntest.UUID()) },
		},
	}
	for name, tc := range tests {
		t.Run(name, tc.run)
	}
}

// TestJournalRests: what is left of a volume that is gone belongs to whoever recorded it.
func TestJournalRests(t *testing.T) {
	f := newFakeFiles()
	a := tenant{f, "a"}
	recorded, stranger, shown := a.volume(), a.volume(), a.snapshot(a.volume())
	shallow := a.shallow(shown)
	for name := range maps.Clone(f.subvolumes) {
		delete(f.subvolumes, name)
	}
	content := `{"version":1,"infraID":"a","entries":[{"kind":"subvolume","uuid":"` + recorded + `","name":"x"},
		{"kind":"subvolume snapshot","uuid":"` + shown + `","name":"y"},{"kind":"shallow volume","uuid":"` + shallow + `","name":"z"}]}`
	f.records[recordObject("a")] = []byte(content)
	report, err := tearDown(t, f, nil)
	if err != nil || report.Code() != teardown.CodeDone || len(f.records) != 0 {
		t.Fatalf("%v: %+v", err, report)
	}
	if f.omap("volume", recorded) != nil || f.omap("snap", shown) != nil || f.omap("volume", shallow) != nil || len(f.references) != 0 {
		t.Errorf("left: %v, %v", f.omaps, f.references)
	}
	if f.omap("volume", stranger) == nil {
		t.Error("a journal that nobody recorded is gone")
	}
	kept := slices.ContainsFunc(report.Items, func(l teardown.Line) bool { return l.UUID == stranger && l.Verdict == teardown.Keep })
	if !kept {
		t.Errorf("a journal that nobody recorded is not listed: %+v", report.Items)
	}
}

// TestClonesInFlight: canceled and removed only where a PersistentVolume of the cluster names them.
func TestClonesInFlight(t *testing.T) {
	f := newFakeFiles()
	a := tenant{f, "a"}
	source := tenant{f, "b"}.volume()
	clone := a.clone(source)
	report, err := tearDown(t, f, func(c *teardown.Config) { c.Ours = func(i teardown.Item) bool { return i.UUID == clone } })
	if err != nil || report.Code() != teardown.CodeDone || f.subvolumes["csi-vol-"+clone] != nil || f.omap("volume", clone) != nil {
		t.Errorf("%v: %+v", err, report)
	}
	if f.subvolumes["csi-vol-"+source] == nil {
		t.Error("the source is gone")
	}
}
