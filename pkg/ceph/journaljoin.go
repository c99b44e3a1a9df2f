package ceph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Keys of the omaps of ceph-csi's journal objects.
const (
	attributeImage           = "csi.imagename"
	attributeImageID         = "csi.imageid"
	attributeVolume          = "csi.volname"
	attributeSnapshot        = "csi.snapname"
	attributeGroup           = "csi.groupname"
	attributeSource          = "csi.source"
	attributeOwner           = "csi.volume.owner"
	attributeBackingSnapshot = "csi.volume.backingsnapshotid"
	// attributeSnapshotOwner: ceph-csi writes the owner of a CephFS snapshot under no key at all.
	attributeSnapshotOwner = ""
)

// JournalPiece is a RADOS object of the journals as it was read.
type JournalPiece struct {
	// Namespace is the RADOS namespace in which it lies.
	Namespace string
	Object    string
	Omap      map[string]string
}

// JournalKey is an entry of a directory: a request name and what was made for it.
type JournalKey struct {
	// Namespace is the RADOS namespace of the directory.
	Namespace string
	// Directory is the directory's object, Key the whole key in it.
	Directory string
	Key       string
	// PoolID is the pool of the volume where that is another one than the directory's, else 0.
	PoolID int64
}

// Journal is all that is known of one volume, snapshot or group, joined from all places: a
// ceph-csi that serves several RADOS namespaces at a time scatters even the halves of one object
// over them.
type Journal struct {
	Kind JournalKind
	UUID string

	// Request is the name that the sidecar asked with, such as "pvc-<uid>".
	Request string
	// Image is the name of the image, subvolume or snapshot. ImageID is the image's; empty where it
	// was not finished, and for CephFS.
	Image   string
	ImageID string
	// Source is the image or subvolume of a snapshot.
	Source string
	// Owner is the namespace of the claim.
	Owner string
	// BackingSnapshot is the handle of the snapshot that a volume without subvolume shows.
	BackingSnapshot string
	// Members are those of a group: handles of volumes; in a group of snapshots, each with its snapshot's for
	// CephFS, and handles of snapshots, each with the image's name, for RBD.
	Members map[string]string

	// Namespaces are those with a half of the object, sorted; none if only keys are left.
	Namespaces []string
	// Keys are the entries of directories that name the UUID, sorted.
	Keys []JournalKey
	// Contradictions say what the halves disagree on, sorted. Such a journal proves nothing.
	Contradictions []string
}

// Name is the name of the journal's objects.
func (j Journal) Name() JournalName { return JournalName{Kind: j.Kind, UUID: j.UUID} }

// Snapshots are the members of a group of snapshots, sorted by UUID.
func (j Journal) Snapshots() []VolumeHandle {
	var out []VolumeHandle
	for key, value := range j.Members {
		of, err := ParseVolumeHandle(value)
		if err != nil && value != "" {
			of, err = ParseVolumeHandle(key)
		}
		if err == nil {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b VolumeHandle) int { return cmp.Compare(a.UUID, b.UUID) })
	return out
}

// JoinJournals puts together what belongs to the same UUID, in whatever RADOS namespaces of a
// pool it lies. References are left out. The result is sorted by kind and UUID.
func JoinJournals(pieces []JournalPiece) []Journal {
	found := map[JournalName]*Journal{}
	at := func(kind JournalKind, uuid string) *Journal {
		name := JournalName{Kind: kind, UUID: uuid}
		if found[name] == nil {
			found[name] = &Journal{Kind: kind, UUID: uuid}
		}
		return found[name]
	}
	// In a stable order, so that contradictions are.
	pieces = slices.SortedFunc(slices.Values(pieces), func(a, b JournalPiece) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Object, b.Object))
	})
	for _, piece := range pieces {
		name, ok := ParseJournalName(piece.Object)
		switch {
		case !ok || name.Kind == JournalReferences:
		case name.Directory:
			for _, key := range slices.Sorted(maps.Keys(piece.Omap)) {
				if pool, uuid, ok := parseJournalValue(piece.Omap[key]); ok && strings.HasPrefix(key, name.Kind.keyPrefix()) {
					at(name.Kind, uuid).add(JournalKey{piece.Namespace, piece.Object, key, pool})
				}
			}
		default:
			at(name.Kind, name.UUID).merge(piece)
		}
	}
	var out []Journal
	for _, j := range found {
		j.settle()
		out = append(out, *j)
	}
	slices.SortFunc(out, func(a, b Journal) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.UUID, b.UUID))
	})
	return out
}

// parseJournalValue reads "<uuid>", or "<pool ID in 16 hexadecimal digits>/<uuid>" of a volume
// in another pool than its directory.
func parseJournalValue(value string) (int64, string, bool) {
	pool, uuid, elsewhere := strings.Cut(value, "/")
	if !elsewhere {
		return 0, value, IsUUID(value)
	}
	id, ok := hexadecimal(pool)
	return id, uuid, ok && len(pool) == locationLength && IsUUID(uuid)
}

// JournalValueNames says whether the value of a key in a directory leads to a UUID.
func JournalValueNames(value, uuid string) bool {
	_, found, ok := parseJournalValue(value)
	return ok && found == uuid
}

func (j *Journal) add(key JournalKey) {
	j.Keys = append(j.Keys, key)
	j.set("the request", &j.Request, strings.TrimPrefix(key.Key, j.Kind.keyPrefix()))
}

func (j *Journal) merge(piece JournalPiece) {
	j.Namespaces = append(j.Namespaces, piece.Namespace)
	for _, attribute := range []struct {
		what, key string
		field     *string
	}{
		{"the image", attributeImage, &j.Image},
		{"the image", attributeGroup, &j.Image},
		{"the image ID", attributeImageID, &j.ImageID},
		{"the request", attributeVolume, &j.Request},
		{"the request", attributeSnapshot, &j.Request},
		{"the source", attributeSource, &j.Source},
		{"the owner", attributeOwner, &j.Owner},
		{"the owner", attributeSnapshotOwner, &j.Owner},
		{"the backing snapshot", attributeBackingSnapshot, &j.BackingSnapshot},
	} {
		if value, ok := piece.Omap[attribute.key]; ok {
			j.set(attribute.what, attribute.field, value)
		}
	}
	for key, value := range piece.Omap {
		if _, err := ParseVolumeHandle(key); err == nil && j.Kind == JournalGroup {
			if j.Members == nil {
				j.Members = map[string]string{}
			}
			j.Members[key] = value
		}
	}
}

// set keeps the first value and remembers another one as a contradiction.
func (j *Journal) set(what string, field *string, value string) {
	if *field == "" {
		*field = value
	}
	if value != "" && *field != value {
		j.Contradictions = append(j.Contradictions, fmt.Sprintf("%s is both %q and %q", what, *field, value))
	}
}

func (j *Journal) settle() {
	slices.Sort(j.Namespaces)
	j.Namespaces = slices.Compact(j.Namespaces)
	slices.Sort(j.Contradictions)
	j.Contradictions = slices.Compact(j.Contradictions)
	slices.SortFunc(j.Keys, func(a, b JournalKey) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Directory, b.Directory), cmp.Compare(a.Key, b.Key))
	})
}
