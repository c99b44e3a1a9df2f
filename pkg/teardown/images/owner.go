package images

import (
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// markKey is our own mark on temporary images, which carry no tag: once the image that one belongs
// to is gone, nothing else would tell a later run whose it is. The value has the image's ID, so that
// a copy or a clone, which inherits it, is not taken for the image.
const markKey = "storage.openshift.io/teardown"

func markOf(infraID string, i ceph.RBDImage) string { return infraID + " " + i.ID }

// ownership is what tells whose an image is. Each verdict is about the image alone, as if it had
// no clones:
//
//	tag of another cluster                                     not ours, not listed
//	no tag, no name of ceph-csi's                              not ours, not listed
//	no tag, a name of ceph-csi's                               keep: nobody knows whose
//	<X>-temp with our mark, or with X that is ours             remove
//	<X>-temp else, X of another cluster                        not ours, not listed
//	<X>-temp else                                              keep, or refuse if it has our tag
//	no header, but recorded by an earlier run                  remove
//	our tag, but replicated, migrating, or being restored      refuse
//	our tag, no name of ceph-csi's                             refuse: a copy inherits the tag
//	our tag, the journal is in another pool                    refuse: ceph-csi no longer does so
//	our tag, in the trash, no journal                          remove: ceph-csi deletes the journal first
//	our tag, a journal of the wrong kind or that contradicts   refuse: somebody's unfinished clone inherits the tag
//	our tag, listed, no journal                                refuse
//	our tag, the journal names it                              remove
type ownership struct {
	options teardown.Options
	images  []ceph.RBDImage
	byName  map[imageName][]int
	// inPool counts the images of a name in all RADOS namespaces of a pool.
	inPool   map[imageName]int
	journals map[string]map[ceph.JournalName]ceph.Journal
	// split are the pools with the journal of an image in another pool, by ID of that and UUID.
	split    map[ceph.VolumeHandle]string
	recorded map[ceph.ImageRef]string
}

type imageName struct{ pool, namespace, name string }

func newOwnership(o teardown.Options, f facts) *ownership {
	w := &ownership{options: o, images: f.images, byName: map[imageName][]int{}, inPool: map[imageName]int{}, recorded: f.recorded.images, split: map[ceph.VolumeHandle]string{}, journals: map[string]map[ceph.JournalName]ceph.Journal{}}
	for n, i := range f.images {
		at := imageName{i.Pool, i.Namespace, i.Name}
		w.byName[at] = append(w.byName[at], n)
		w.inPool[imageName{pool: i.Pool, name: i.Name}]++
	}
	for pool, journals := range f.journals {
		w.journals[pool] = map[ceph.JournalName]ceph.Journal{}
		for _, j := range journals {
			w.journals[pool][j.Name()] = j
			for _, key := range j.Keys {
				if key.PoolID != 0 {
					w.split[ceph.VolumeHandle{LocationID: key.PoolID, UUID: j.UUID}] = pool
				}
			}
		}
	}
	return w
}

// verdict is what ownership says of an image; an empty Verdict means that it is not ours.
type verdict struct {
	teardown.Verdict
	reason  string
	journal *ceph.Journal
}

func no(format string, arguments ...any) verdict {
	return verdict{Verdict: teardown.Refuse, reason: fmt.Sprintf(format, arguments...)}
}

func (w *ownership) of(i ceph.RBDImage) verdict {
	tag := i.Metadata[ceph.TagCluster]
	name, ok := ceph.ParseCSIName(i.Name)
	recorded := ok && w.recorded[i.ImageRef] == i.Name
	switch {
	case recorded && !i.Header && i.Trash != nil:
		return verdict{teardown.Remove, "the rest of what an earlier run removed", nil}
	case ok && name.Temporary:
		return w.ofTemporary(i, name, tag)
	case tag == "" && ok:
		return w.ofUntagged(i)
	case tag != w.options.InfraID:
		return verdict{}
	case !ok:
		return no("its name is none that ceph-csi makes: copies and clones by hand inherit the tag")
	case i.Replicated():
		return no("it is mirrored, or has a journal for that; if it may go: `rbd mirror image disable %[1]s`, or `rbd feature disable %[1]s journaling` where it is not mirrored", shell.Quote(i.Path()))
	case i.Migrating():
		return no("it is being migrated: finish or abort that first (rbd migration)")
	case i.Trash != nil && i.Trash.State == ceph.TrashRestoring:
		return no("it is being restored from the trash")
	}
	return w.ofTagged(i, name)
}

// ofTagged compares tag, name and journal of an image that carries our tag.
func (w *ownership) ofTagged(i ceph.RBDImage, name ceph.CSIName) verdict {
	volume, isVolume := w.journals[i.Pool][ceph.JournalName{Kind: ceph.JournalVolume, UUID: name.UUID}]
	snapshot, isSnapshot := w.journals[i.Pool][ceph.JournalName{Kind: ceph.JournalSnapshot, UUID: name.UUID}]
	journal, needs := volume, ceph.TagPV
	if isSnapshot {
		journal, needs = snapshot, ceph.TagSnapshotContent
	}
	object := journal.Name().Object()
	elsewhere := w.split[ceph.VolumeHandle{LocationID: i.PoolID, UUID: name.UUID}]
	switch {
	case elsewhere != "" && elsewhere != i.Pool:
		return no("its journal is in pool %q, where ceph-csi before 3.11 kept it for topologyConstrainedPools: delete it as a volume of a cluster that lives, or remove image, csi.volume.%s in both pools, and the key with that UUID in csi.volumes.default of pool %q by hand",
			elsewhere, name.UUID, elsewhere)
	case isVolume && isSnapshot:
		return no("there is a journal of a volume and one of a snapshot for its UUID")
	case !isVolume && !isSnapshot && i.Trash != nil && (i.Trash.Removing || !i.Listed):
		return verdict{Verdict: teardown.Remove, reason: "tagged, in the trash"}
	case !isVolume && !isSnapshot:
		return no("no journal in its pool names it: a copy by hand, or made by something else")
	case len(journal.Contradictions) > 0:
		return no("the parts of %s contradict each other: %s", object, journal.Contradictions[0])
	case i.Metadata[needs] == "" && isSnapshot && i.Metadata[ceph.TagPV] != "":
		return no("%s names it, but it has no %s: one of a group's snapshots that was not tagged yet, perhaps of another cluster, as it inherits the tag of its volume; if it may go, delete it as a VolumeSnapshotContent of a cluster that lives, or by hand", object, needs)
	case i.Metadata[needs] == "":
		return no("%s names it, but it has no %s: unfinished, perhaps another cluster's clone, which inherits the tag", object, needs)
	case journal.Image != "" && journal.Image != i.Name:
		return no("%s names %q", object, journal.Image)
	case journal.ImageID != "" && journal.ImageID != i.ID:
		return no("%s names another image of that name, with ID %s: a copy by hand", object, journal.ImageID)
	case journal.Image == "" && i.Trash == nil:
		return no("%s does not name its image", object)
	case journal.ImageID == "" && w.ambiguous(i):
		return no("there is another image of that name in the pool, and %s does not say which one it means", object)
	}
	return verdict{Verdict: teardown.Remove, reason: "tagged, named by " + object, journal: &journal}
}

// ambiguous: journals of all RADOS namespaces of a pool are read together.
func (w *ownership) ambiguous(i ceph.RBDImage) bool {
	return w.inPool[imageName{pool: i.Pool, name: i.Name}] > 1
}

// ofTemporary: "<X>-temp" belongs to whom X belongs to, and to nobody else.
func (w *ownership) ofTemporary(i ceph.RBDImage, name ceph.CSIName, tag string) verdict {
	owners := w.byName[imageName{i.Pool, i.Namespace, name.Owner()}]
	ours, foreign := 0, ""
	for _, n := range owners {
		owner := w.images[n]
		if w.of(owner).Verdict == teardown.Remove {
			ours++
		}
		if other := owner.Metadata[ceph.TagCluster]; other != "" && other != w.options.InfraID {
			foreign = other
		}
	}
	marked := i.Metadata[markKey] == markOf(w.options.InfraID, i)
	switch {
	case i.Replicated() || i.Migrating():
		return verdict{teardown.Keep, "it is mirrored or being migrated", nil}
	case ours > 0 && ours == len(owners):
		return verdict{teardown.Remove, "belongs to " + name.Owner(), nil}
	case marked && len(owners) == 0:
		return verdict{teardown.Remove, "belonged to " + name.Owner() + ", which an earlier run removed", nil}
	case foreign != "":
		return verdict{}
	case tag == w.options.InfraID:
		return no("it belongs to %s, which is not provably of the cluster, and inherits the tag", name.Owner())
	case tag != "":
		return verdict{}
	}
	return verdict{teardown.Keep, fmt.Sprintf("it belongs to %s, of which nobody knows whose it is", name.Owner()), nil}
}

func (w *ownership) ofUntagged(i ceph.RBDImage) verdict {
	if !i.Header {
		return verdict{teardown.Keep, "the rest of a removal that was cut off; nothing tells whose it was", nil}
	}
	return verdict{teardown.Keep, "it carries no cluster's tag: made before volumes were tagged, or unfinished", nil}
}
