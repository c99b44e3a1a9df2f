package teardown

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// TestImageDecisions: each case lays out and names the image that is looked at.
func TestImageDecisions(t *testing.T) {
	type layout struct{ a, b, tenant cluster }
	tests := map[string]struct {
		reason string
		lay    func(layout) *ceph.RBDImage
		change func(*Config)
		want   Verdict
		says   string
		code   int
	}{
		"Volume":  {"tag, name and journal", func(l layout) *ceph.RBDImage { return l.a.volume() }, nil, Remove, "tagged, named by csi.volume.", CodeDone},
		"Foreign": {"another cluster's is not even listed", func(l layout) *ceph.RBDImage { return l.b.volume() }, nil, "", "", CodeDone},
		"Copy": {"an administrator's copy inherits the tag", func(l layout) *ceph.RBDImage {
			i := l.a.image("backup")
			l.a.tagVolume(i, "pvc-1")
			return i
		}, nil, Refuse, "by hand inherit the tag", CodeRefused},
		"CopyOfTheSameName": {"in another RADOS namespace; the journal has the original's ID", func(l layout) *ceph.RBDImage {
			i := l.tenant.image(l.a.volume().Name)
			l.a.tagVolume(i, "pvc-1")
			return i
		}, nil, Refuse, "another image of that name", CodeRefused},
		"NoJournal": {"tag and name are no proof", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.dropJournal(i)
			return i
		}, nil, Refuse, "no journal", CodeRefused},
		"UnfinishedRestore": {"the other cluster's, with the source's tags and a journal of its own", func(l layout) *ceph.RBDImage {
			i := l.b.restore(l.a.snapshot(l.a.volume()))
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.tagSnapshot(i, "snapcontent-"+name.UUID)
			delete(l.b.journals[[3]string{"rbd", "", "csi.volume." + name.UUID}], "csi.imageid")
			return i
		}, nil, Refuse, "unfinished", CodeRefused},
		"UnfinishedRestoreInTrash": {"its cluster gave it up, with the journal still there", func(l layout) *ceph.RBDImage {
			i := l.b.restore(l.a.snapshot(l.a.volume()))
			l.a.tagSnapshot(i, "snapcontent-1")
			i.Listed, i.Trash = false, &ceph.TrashEntry{Name: i.Name}
			return i
		}, nil, Refuse, "unfinished", CodeRefused},
		"Untagged": {"made before tagging, or unfinished", func(l layout) *ceph.RBDImage {
			return l.a.image("csi-vol-" + teardowntest.UUID())
		}, nil, Keep, "no cluster's tag", CodeDone},
		"ContradictingHalves": {"two journals of one UUID", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.write("tenant", "csi.volume."+name.UUID, map[string]string{"csi.imageid": "ffff"})
			return i
		}, nil, Refuse, "contradict", CodeRefused},
		"JournalOfAnotherImage": {"", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.write("", "csi.volume."+name.UUID, map[string]string{"csi.imagename": "csi-vol-other"})
			return i
		}, nil, Refuse, `names "csi-vol-other"`, CodeRefused},
		"SplitJournal": {"in another pool, as ceph-csi once did for topologies", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			name, _ := ceph.ParseCSIName(i.Name)
			l.a.dropJournal(i)
			l.a.write("", "csi.volume."+name.UUID, nil)
			l.a.journals[[3]string{"other", "", "csi.volumes.default"}] = map[string]string{"csi.volume.pvc-1": "0000000000000001/" + name.UUID}
			return i
		}, nil, Refuse, `its journal is in pool "other"`, CodeRefused},
		"Retained": {"stays unless told", func(l layout) *ceph.RBDImage { return retained(l.a.volume()) }, nil, Keep, "--include-retained", CodeDone},
		"RetainedIncluded": {"goes when told", func(l layout) *ceph.RBDImage { return retained(l.a.volume()) },
			func(c *Config) { c.IncludeRetained = true }, Remove, "tagged", CodeDone},
		"ParentOfRetained": {"what a kept volume needs is kept as well", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			retained(l.a.restore(s))
			return s
		}, nil, Keep, "its clone", CodeDone},
		"GrandparentOfRetained": {"all the way up", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			retained(l.a.restore(l.a.snapshot(v)))
			return v
		}, nil, Keep, "its clone", CodeDone},
		"ForeignChild": {"another cluster restored from it", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			return s
		}, nil, Refuse, `(tag "b") stays`, CodeRefused},
		"ForeignGrandchild": {"and its ancestors", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			l.b.restore(l.a.snapshot(v))
			return v
		}, nil, Refuse, "its clone rbd/csi-snap-", CodeRefused},
		"ForeignTemporaryChild": {"the other's clone goes through an image without tag", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			l.b.clone(v)
			return v
		}, nil, Refuse, "-temp (of nobody knows whom) stays", CodeRefused},
		"UnseenChild": {"a clone where nobody may look", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			v.Snapshots = []ceph.ImageSnapshot{{ID: 1, Name: "s", Children: []ceph.ImageRef{{PoolID: 9, ID: "x"}}}}
			return v
		}, func(c *Config) { c.KeepForChildren = true }, Refuse, "with ID x in pool 9", CodeRefused},
		"ForeignChildKept": {"waits in the trash", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			return s
		}, func(c *Config) { c.KeepForChildren = true }, Remove, "waits there for its clone", CodeDone},
		"ForeignPinnedChild": {"a clone of format 1 needs its parent as it is", func(l layout) *ceph.RBDImage {
			s := l.a.snapshot(l.a.volume())
			l.b.restore(s)
			s.Snapshots[0].Protected = true
			return s
		}, func(c *Config) { c.KeepForChildren = true }, Refuse, "clone format 1", CodeRefused},
		"OwnerlessTemporary": {"its image is gone, and nothing says whose it was", func(l layout) *ceph.RBDImage {
			v, temporary := l.a.clone(l.a.volume())
			l.a.dropJournal(v)
			delete(l.a.images, v.ImageRef)
			temporary.Snapshots = nil
			return temporary
		}, nil, Keep, "nobody knows whose", CodeRefused},
		"TaggedTemporary": {"the other's, killed right after it was cloned from ours", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			temporary := l.b.image("csi-vol-" + teardowntest.UUID() + "-temp")
			l.b.cloneOf(v, temporary, ceph.TrashSnapshot, "random")
			l.a.tagVolume(temporary, "pvc-1")
			return temporary
		}, nil, Refuse, "inherits the tag", CodeRefused},
		"CopiedMark": {"our mark on a copy names another image", func(l layout) *ceph.RBDImage {
			i := l.a.image("csi-vol-" + teardowntest.UUID() + "-temp")
			i.Metadata[markKey] = "a ffff"
			return i
		}, nil, Keep, "nobody knows whose", CodeDone},
		"Marked": {"the rest of a run that was killed", func(l layout) *ceph.RBDImage {
			i := l.a.image("csi-vol-" + teardowntest.UUID() + "-temp")
			i.Metadata[markKey] = "a " + i.ID
			return i
		}, nil, Remove, "an earlier run", CodeDone},
		"HeaderlessTrash": {"nothing says whose it was", func(l layout) *ceph.RBDImage {
			i := l.a.deleted(l.a.volume())
			i.Header, i.Metadata = false, nil
			return i
		}, nil, Keep, "cut off", CodeDone},
		"Mirrored":  {"another Ceph cluster follows it", func(l layout) *ceph.RBDImage { i := l.a.volume(); i.Mirrored = true; return i }, nil, Refuse, "mirror", CodeRefused},
		"Migrating": {"", func(l layout) *ceph.RBDImage { i := l.a.volume(); i.Features |= 1 << 9; return i }, nil, Refuse, "migrated", CodeRefused},
		"Restoring": {"an administrator takes it out of the trash", func(l layout) *ceph.RBDImage {
			i := l.a.deleted(l.a.volume())
			i.Trash.State = ceph.TrashRestoring
			return i
		}, nil, Refuse, "being restored", CodeRefused},
		"GroupWithForeigner": {"a group's snapshots are of all its images", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.group(i, l.b.volume())
			return i
		}, nil, Refuse, "image group", CodeRefused},
		"Open": {"somebody uses it: the whole run is refused", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return i
		}, nil, Refuse, "open at 10.0.0.1", CodeRefused},
		"OtherOpen": {"with it, all others", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return l.a.volume()
		}, nil, Refuse, "still in use", CodeRefused},
		"OtherOpenForced": {"--force limits it", func(l layout) *ceph.RBDImage {
			i := l.a.volume()
			l.a.users[i.ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return l.a.volume()
		}, func(c *Config) { c.Force = true }, Remove, "tagged", CodeRefused},
		"ParentOfOpen": {"and to what it depends on", func(l layout) *ceph.RBDImage {
			v := l.a.volume()
			s := l.a.snapshot(v)
			l.a.users[l.a.restore(s).ImageRef] = ceph.ImageUse{Clients: []string{"10.0.0.1:0/1"}, Alive: true}
			return v
		}, func(c *Config) { c.Force = true }, Refuse, "its clone", CodeRefused},
		"OtherPool": {"--pool limits the run", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *Config) { c.Pools = []string{"other"} }, "", "", CodeDone},
		"OtherVolume": {"--volume limits the run", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *Config) { c.Volumes = []ceph.VolumeHandle{{LocationID: 1, UUID: "x"}} }, "", "", CodeDone},
		"Claimed": {"a living cluster's PersistentVolume names it", func(l layout) *ceph.RBDImage { return l.a.volume() },
			func(c *Config) { c.Claimed = func(Item) string { return "PersistentVolume pv-1 of cluster c" } }, Refuse, "pv-1 of cluster c", CodeRefused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeRBD()
			i := tc.lay(layout{cluster{fakeRBD: f, id: "a"}, cluster{fakeRBD: f, id: "b"}, cluster{fakeRBD: f, id: "a", namespace: "tenant"}})
			report, out, err := runImages(t, f, tc.change, clock.RealClock{})
			if err != nil || report.Code() != tc.code {
				t.Fatalf("%s: code %d, %v\n%s", tc.reason, report.Code(), err, out)
			}
			var got Decision
			for _, l := range report.Items {
				if l.ID == i.ID {
					got = l.Decision
				}
			}
			if got.Verdict != tc.want || !strings.Contains(got.Reason, tc.says) {
				t.Errorf("%s: %q: %q\n%s", tc.reason, got.Verdict, got.Reason, out)
			}
			if _, there := f.images[i.ImageRef]; there != (tc.want != Remove || strings.Contains(tc.says, "waits")) {
				t.Errorf("%s: the image is there: %t\n%s", tc.reason, there, out)
			}
		})
	}
}

func retained(i *ceph.RBDImage) *ceph.RBDImage {
	i.Metadata[ceph.TagRetain] = ceph.RetainMark
	return i
}
