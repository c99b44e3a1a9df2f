package ceph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const volumes = "csi.volumes.default"

func volumeOmap(uuid string) map[string]string {
	return map[string]string{
		"csi.imagename": "csi-vol-" + uuid, "csi.volname": "pvc-1", "csi.volume.owner": "shop", "csi.imageid": "d3a1",
	}
}

func TestJoinJournals(t *testing.T) {
	volume := "csi.volume." + uuidA
	whole := Journal{
		Kind: JournalVolume, UUID: uuidA, Request: "pvc-1", Image: "csi-vol-" + uuidA, ImageID: "d3a1", Owner: "shop",
		Namespaces: []string{""}, Keys: []JournalKey{{"", volumes, "csi.volume.pvc-1", 0}},
	}
	with := func(change func(*Journal)) []Journal {
		j := whole
		change(&j)
		return []Journal{j}
	}
	tests := map[string]struct {
		reason string
		pieces []JournalPiece
		want   []Journal
	}{
		"Whole": {
			reason: "what ceph-csi writes for one volume",
			pieces: []JournalPiece{{"", volumes, map[string]string{"csi.volume.pvc-1": uuidA}}, {"", volume, volumeOmap(uuidA)}},
			want:   []Journal{whole},
		},
		"Halves": {
			reason: "csi.imageid in one namespace, the rest in another, the key in a third",
			pieces: []JournalPiece{
				{"tenant-b", volume, map[string]string{"csi.imageid": "d3a1"}},
				{"tenant-a", volume, map[string]string{"csi.imagename": "csi-vol-" + uuidA, "csi.volname": "pvc-1", "csi.volume.owner": "shop"}},
				{"", volumes, map[string]string{"csi.volume.pvc-1": uuidA}},
			},
			want: with(func(j *Journal) { j.Namespaces = []string{"tenant-a", "tenant-b"} }),
		},
		"KeyOnly": {
			reason: "the object is gone, the key is left",
			pieces: []JournalPiece{{"", volumes, map[string]string{"csi.volume.pvc-1": uuidA}}},
			want: []Journal{{Kind: JournalVolume, UUID: uuidA, Request: "pvc-1",
				Keys: []JournalKey{{"", volumes, "csi.volume.pvc-1", 0}}}},
		},
		"KeysInTwoNamespaces": {
			reason: "a retry wrote the key again, elsewhere",
			pieces: []JournalPiece{
				{"b", volumes, map[string]string{"csi.volume.pvc-1": uuidA}}, {"", volumes, map[string]string{"csi.volume.pvc-1": uuidA}},
				{"", volume, volumeOmap(uuidA)},
			},
			want: with(func(j *Journal) {
				j.Keys = []JournalKey{{"", volumes, "csi.volume.pvc-1", 0}, {"b", volumes, "csi.volume.pvc-1", 0}}
			}),
		},
		"OtherPool": {
			reason: "the directory lies in another pool than the volume",
			pieces: []JournalPiece{
				{"", volumes, map[string]string{"csi.volume.pvc-1": "000000000000000c/" + uuidA}}, {"", volume, volumeOmap(uuidA)},
			},
			want: with(func(j *Journal) { j.Keys = []JournalKey{{"", volumes, "csi.volume.pvc-1", 12}} }),
		},
		"Contradiction": {
			reason: "two objects of one UUID name different images",
			pieces: []JournalPiece{
				{"", volume, volumeOmap(uuidA)}, {"", volumes, map[string]string{"csi.volume.pvc-1": uuidA}},
				{"b", volume, map[string]string{"csi.imagename": "other", "csi.volname": "pvc-2"}},
			},
			want: with(func(j *Journal) {
				j.Namespaces = []string{"", "b"}
				j.Contradictions = []string{`the image is both "csi-vol-` + uuidA + `" and "other"`, `the request is both "pvc-1" and "pvc-2"`}
			}),
		},
		"Snapshots": {
			reason: "of RBD with a named owner, of CephFS with the owner under no key",
			pieces: []JournalPiece{
				{"csi", "csi.snap." + uuidB, map[string]string{"csi.imagename": "csi-snap-" + uuidB, "csi.snapname": "snapshot-1", "csi.source": "csi-vol-" + uuidA, "": "shop"}},
				{"csi", "csi.snap." + uuidA, map[string]string{"csi.imagename": "csi-snap-" + uuidA, "csi.snapname": "snapshot-2", "csi.source": "csi-vol-" + uuidA, "csi.volume.owner": "shop", "csi.imageid": "5"}},
			},
			want: []Journal{
				{Kind: JournalSnapshot, UUID: uuidA, Request: "snapshot-2", Image: "csi-snap-" + uuidA, ImageID: "5", Source: "csi-vol-" + uuidA, Owner: "shop", Namespaces: []string{"csi"}},
				{Kind: JournalSnapshot, UUID: uuidB, Request: "snapshot-1", Image: "csi-snap-" + uuidB, Source: "csi-vol-" + uuidA, Owner: "shop", Namespaces: []string{"csi"}},
			},
		},
		"Group": {
			reason: "a group of snapshots",
			pieces: []JournalPiece{
				{"", "csi.groups.default", map[string]string{"csi.volume.group.group-1": uuidA}},
				{"", "csi.volume.group." + uuidA, map[string]string{"csi.groupname": "csi-vol-group-" + uuidA, "csi.volname": "group-1", "csi.creationtime": "2026-01-01T00:00:00Z", goodHandle: "snapshot", "other": "x"}},
			},
			want: []Journal{{Kind: JournalGroup, UUID: uuidA, Request: "group-1", Image: "csi-vol-group-" + uuidA, Members: map[string]string{goodHandle: "snapshot"},
				Namespaces: []string{""}, Keys: []JournalKey{{"", "csi.groups.default", "csi.volume.group.group-1", 0}}}},
		},
		"Shallow": {
			reason: "a CephFS volume without a subvolume",
			pieces: []JournalPiece{{"csi", volume, map[string]string{"csi.imagename": "csi-vol-" + uuidA, "csi.volume.backingsnapshotid": goodHandle}}},
			want:   []Journal{{Kind: JournalVolume, UUID: uuidA, Image: "csi-vol-" + uuidA, BackingSnapshot: goodHandle, Namespaces: []string{"csi"}}},
		},
		"Foreign": {
			reason: "keys and values that ceph-csi does not write, references, other objects",
			pieces: []JournalPiece{
				{"", volumes, map[string]string{"csi.volume.x": "not a uuid", "other": uuidA, "csi.snap.x": uuidA, "csi.volume.y": "zz/" + uuidA}},
				{"", "rt-backingsnapshot-x", nil}, {"", "rbd_directory", map[string]string{"name_x": "y"}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, JoinJournals(tc.pieces)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			turned := slices.Clone(tc.pieces)
			slices.Reverse(turned)
			if diff := cmp.Diff(tc.want, JoinJournals(turned)); diff != "" {
				t.Errorf("in another order (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzJournal(f *testing.F) {
	f.Add("csi.volume."+uuidA, "csi.imagename", "csi-vol-"+uuidA, "tenant")
	f.Add("csi.volumes.default", "csi.volume.pvc-1", uuidA, "")
	f.Add("csi.groups.default", "csi.volume.group.x", "0000000000000001/"+uuidA, "")
	f.Add("csi.snap."+uuidB+"-temp", "", "-temp", "x")
	f.Fuzz(func(t *testing.T, object, key, value, namespace string) {
		if name, ok := ParseJournalName(object); ok && !name.Directory && name.Object() != object {
			t.Errorf("%q becomes %q", object, name.Object())
		}
		if name, ok := ParseCSIName(value); ok && !strings.HasPrefix(value, name.Owner()) {
			t.Errorf("%q belongs to %q", value, name.Owner())
		}
		for _, j := range JoinJournals([]JournalPiece{{namespace, object, map[string]string{key: value}}}) {
			if !IsUUID(j.UUID) || j.Kind == "" || len(j.Namespaces)+len(j.Keys) == 0 {
				t.Errorf("%q: %+v", object, j)
			}
			if len(j.Keys) == 1 && (j.Keys[0].Key != key || !strings.HasSuffix(value, j.UUID)) {
				t.Errorf("key %q=%q reads as %+v", key, value, j)
			}
		}
	})
}

// TestSnapshotsOfGroups: the drivers note them differently.
func TestSnapshotsOfGroups(t *testing.T) {
	other := strings.ReplaceAll(goodHandle, uuidOf(t, goodHandle), uuidB)
	tests := map[string]struct {
		reason  string
		members map[string]string
		want    []string
	}{
		"CephFS":  {"a volume's handle leads to its snapshot's", map[string]string{goodHandle: other}, []string{uuidB}},
		"RBD":     {"a snapshot's handle leads to its image's name", map[string]string{other: "csi-snap-" + uuidB, goodHandle: "x"}, []string{uuidB, uuidOf(t, goodHandle)}},
		"Volumes": {"a group of volumes has none", map[string]string{goodHandle: ""}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range (Journal{Members: tc.members}).Snapshots() {
				got = append(got, s.UUID)
			}
			slices.Sort(tc.want)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

func uuidOf(t *testing.T, handle string) string {
	t.Helper()
	parsed, err := ParseVolumeHandle(handle)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.UUID
}
