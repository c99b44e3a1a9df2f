package images

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// TestImageDecisions: each case lays out and names the image that is looked at.
func TestImageDecisions(t *testing.T) {
	type layout struct{ a, b, tenant cluster }
	tests := map[string]struct {
		reason string
		lay    func(layout) *ceph.RBDImage
		change func(*teardown.Config)
		want   teardown.Verdict
		says   string
		code   int
	}{
		"Volume":  {"tag, name and journal", func(l layout) *ceph.RBDImage { return l.a.volume() }, nil, teardown.Remove, "tagged, named by csi.volume.", teardown.CodeDone},
		"Foreign": {"another cluster's is not even listed", func(l layout) *ceph.RBDImage { return l.b.volume() }, nil, "", "", teardown.CodeDone},
		"Copy": {"an administrator's copy inherits the tag", func(l layout) *ceph.RBDImage {
			i := l.a.image("backup")
			l.a.tagVolume(i, "pvc-1")
			return i
		}, nil, teardown.Refuse, "by hand inherit the tag", teardown.CodeRefused},
		"CopyOfTheSameName": {"in another RADOS namespace; the journal has the original's ID", func(l layout) *ceph.RBDImage {
			i := l.tenant.image(l.a.volume().Name)
			l.a.tagVolume(i, "pvc-1")
			return i
		}, nil, teardown.Refuse, "another image of that name", teardown.CodeRefused},
		"NoJournal": {"tag and name are no proof", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.dropJournal(i)
			return i
		}, nil, teardown.Refuse, "no journal", teardown.CodeRefused},
		"UnfinishedRestore": {"the other cluster's, with the source's tags and a journal of its own", func(l layout) *ceph.RBDImage {
			i := l.b.restore(l.a.snapshot(l.a.volume()))
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.tagSnapshot(i, "snapcontent-"+name.UUID)
			delete(l.b.journals[[3]string{"rbd", "", "csi.volume." + name.UUID}], "csi.imageid")
			return i
		}, nil, teardown.Refuse, "unfinished", teardown.CodeRefused},
		"UnfinishedRestoreInTrash": {"its cluster gave it up, with the journal still there", func(l layout) *ceph.RBDImage {
			i := l.b.restore(l.a.snapshot(l.a.volume()))
			l.a.tagSnapshot(i, "snapcontent-1")
			i.Listed, i.Trash = false, &ceph.TrashEntry{Name: i.Name}
			return i
		}, nil, teardown.Refuse, "unfinished", teardown.CodeRefused},
		"UntaggedOfGroup": {"ceph-csi gives a group's snapshots the tags of their volumes alone", func(l layout) *ceph.RBDImage {
			i := l.a.snapshot(l.a.volume())
			delete(i.Metadata, ceph.TagSnapshotContent)
			i.Metadata[ceph.TagPV] = "pv"
			return i
		}, nil, teardown.Refuse, "one of a group's snapshots that was not tagged yet", teardown.CodeRefused},
		"Untagged": {"made before tagging, or unfinished", func(l layout) *ceph.RBDImage {
			return l.a.image("csi-vol-" + teardowntest.UUID())
		}, nil, teardown.Keep, "no cluster's tag", teardown.CodeDone},
		"ContradictingHalves": {"two journals of one UUID", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.write("tenant", "csi.volume."+name.UUID, map[string]string{"csi.imageid": "ffff"})
			return i
		}, nil, teardown.Refuse, "contradict", teardown.CodeRefused},
		"JournalOfAnotherImage": {"", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.write("", "csi.volume."+name.UUID, map[string]string{"csi.imagename": "csi-vol-other"})
			return i
		}, nil, teardown.Refuse, `names "csi-vol-other"`, teardown.CodeRefused},
		"SplitJournal": {"in another pool, as ceph-csi once did for topologies", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.dropJournal(i)
			l.a.write("", "csi.volume."+name.UUID, nil)
			l.a.journals[[3]string{"other", "", "csi.volumes.default"}] = map[string]string{"csi.volume.pvc-1": "0000000000000001/" + name.UUID}
			return i
		}, nil, teardown.Refuse, `its journal is in pool "other"`, teardown.CodeRefused},
		"Retained": {"stays unless told", func(l layout) *ceph.RBDImage { return retained(l.a.volume()) }, nil, teardown.Keep, "--include-retained", teardown.CodeDone},
		"RetainedIncluded": {"goes when told", func(l layout) *ceph.RBDImage { return retained(l.a.volume()) },
			func(c *teardown.Config) { c.IncludeRetained = true }, teardown.Remove, "tagged", teardown.CodeDone},
		"ParentOfRetained": {"what a kept volume needs is kept as well", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			retained(l.a.restore(s))
			return s
		}, nil, teardown.Keep, "its clone", teardown.CodeDone},
		"GrandparentOfRetained": {"all the way up", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			retained(l.a.restore(l.a.snapshot(v)))
			return v
		}, nil, teardown.Keep, "its clone", teardown.CodeDone},
		"ForeignChild": {"another cluster restored from it", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			return s
		}, nil, teardown.Refuse, `(tag "b") stays`, teardown.CodeRefused},
		"ForeignGrandchild": {"and its ancestors", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			l.b.restore(l.a.snapshot(v))
			return v
		}, nil, teardown.Refuse, "its clone rbd/csi-snap-", teardown.CodeRefused},
		"ForeignTemporaryChild": {"the other's clone goes through an image without tag", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			l.b.clone(v)
			return v
		}, nil, teardown.Refuse, "-temp (of nobody knows whom) stays", teardown.CodeRefused},
		"UnseenChild": {"a clone where nobody may look", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			v.Snapshots = []ceph.ImageSnapshot{{ID: 1, Name: "s", Children: []ceph.ImageRef{{PoolID: 9, ID: "x"}}}}
			return v
		}, func(c *teardown.Config) { c.KeepForChildren = true }, teardown.Refuse, "with ID x in pool 9", teardown.CodeRefused},
		"ForeignChildKept": {"waits in the trash", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			return s
		}, func(c *teardown.Config) { c.KeepForChildren = true }, teardown.Remove, "waits there for its clone", teardown.CodeDone},
		"ForeignPinnedChild": {"a clone of format 1 needs its parent as it is", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			s.Snapshots[0].Protected = true
			return s
		}, func(c *teardown.Config) { c.KeepForChildren = true }, teardown.Refuse, "clone format 1", teardown.CodeRefused},
		"OwnerlessTemporary": {"its image is gone, and nothing says whose it was", func(l layout) *ceph.RBDImage {
			v, temporary := l.a.clone(l.a.volume())
			l.a.dropJournal(v)
			delete(l.a.images, v.ImageRef)
			temporary.Snapshots = nil
			return temporary
		}, nil, teardown.Keep, "nobody knows whose", teardown.CodeRefused},
		"TaggedTemporary": {"the other's, killed right after it was cloned from ours", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			temporary := l.b.image("csi-vol-" + teardowntest.UUID() + "-temp")
			l.b.cloneOf(v, temporary, ceph.TrashSnapshot, "random")
			l.a.tagVolume(temporary, "pvc-1")
			return temporary
		}, nil, teardown.Refuse, "inherits the tag", teardown.CodeRefused},
		"CopiedMark": {"our mark on a copy names another image", func(l layout) *ceph.RBDImage {
			i := l.a.image("csi-vol-" + teardowntest.UUID() + "-temp")
			i.Metadata[markKey] = "a ffff"
			return i
		}, nil, teardown.Keep, "nobody knows whose", teardown.CodeDone},
		"Marked": {"the rest of a run that was killed", func(l layout) *ceph.RBDImage {
			i := l.a.image("csi-vol-" + teardowntest.UUID() + "-temp")
			i.Metadata[markKey] = "a " + i.ID
			return i
		}, nil, teardown.Remove, "an earlier run", teardown.CodeDone},
		"HeaderlessTrash": {"nothing says whose it was", func(l layout) *ceph.RBDImage {
			i := l.a.deleted(l.a.volume())
			i.Header, i.Metadata = false, nil
			return i
		}, nil, teardown.Keep, "cut off", teardown.CodeDone},
		"Mirrored":  {"another Ceph cluster follows it", func(l layout) *ceph.RBDImage { i := l.a.volume(); i.Mirrored = true; return i }, nil, teardown.Refuse, "mirror", teardown.CodeRefused},
		"Migrating": {"", func(l layout) *ceph.RBDImage { i := l.a.volume(); i.Features |= 1 << 9; return i }, nil, teardown.Refuse, "migrated", teardown.CodeRefused},
		"Restoring": {"an administrator takes it out of the trash", func(l layout) *ceph.RBDImage {
			i := l.a.deleted(l.a.volume())
			i.Trash.State = ceph.TrashRestoring
			return i
		}, nil, teardown.Refuse, "being restored", teardown.CodeRefused},
		"GroupWithForeigner": {"a group's snapshots are of all its images", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.group(i, l.b.volume())
			return i
		}, nil, teardown.Refuse, "image group", teardown.CodeRefused},
		"Open": {"somebody uses it: the whole run is refused", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return i
		}, nil, teardown.Refuse, "open at 10.0.0.1", teardown.CodeRefused},
		"OtherOpen": {"with it, all others", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return l.a.volume()
		}, nil, teardown.Refuse, "still in use", teardown.CodeRefused},
		"OtherOpenForced": {"--force limits it", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return l.a.volume()
		}, func(c *teardown.Config) { c.Force = true }, teardown.Remove, "tagged", teardown.CodeRefused},
		"ParentOfOpen": {"and to what it depends on", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			s := l.a.snapshot(v)
			l.a.users[l.a.restore(s).ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return v
		}, func(c *teardown.Config) { c.Force = true }, teardown.Refuse, "its clone", teardown.CodeRefused},
		"OtherPool": {"--pool limits the run", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *teardown.Config) { c.Pools = []string{"other"} }, "", "", teardown.CodeDone},
		"OtherVolume": {"--volume limits the run", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *teardown.Config) { c.Volumes = []ceph.VolumeHandle{{LocationID: 1, UUID: "x"}} }, "", "", teardown.CodeDone},
		"Claimed": {"a living cluster's PersistentVolume names it", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *teardown.Config) {
				c.Claimed = func(teardown.Item) string { return "PersistentVolume pv-1 of cluster c" }
			}, teardown.Refuse, "pv-1 of cluster c", teardown.CodeRefused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeRBD()
			i := tc.lay(layout{cluster{fakeRBD: f, id: "a"}, cluster{fakeRBD: f, id: "b"}, cluster{fakeRBD: f, id: "a", namespace: "tenant"}})
			report, out, err := run(t, f, tc.change, clock.RealClock{})
			if err != nil || report.Code() != tc.code {
				t.Fatalf("%s: code %d, %v\n%s", tc.reason, report.Code(), err, out)
			}
			var got teardown.Decision
			for _, l := range report.Items {
				if l.ID == i.ID {
					got = l.Decision
				}
			}
			if got.Verdict != tc.want || !strings.Contains(got.Reason, tc.says) {
				t.Errorf("%s: %q: %q\n%s", tc.reason, got.Verdict, got.Reason, out)
			}
			if _, there := f.images[i.ImageRef]; there != (tc.want != teardown.Remove || strings.Contains(tc.says, "waits")) {
				t.Errorf("%s: the image is there: %t\n%s", tc.reason, there, out)
			}
		})
	}
}

func retained(i *ceph.RBDImage) *ceph.RBDImage {
	i.Metadata[ceph.TagRetain] = ceph.RetainMark
	return i
}
