package ceph

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustHex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func omapOf(t testing.TB, values map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for key, value := range values {
		out[key] = mustHex(t, value)
	}
	return out
}

// Headers that librbd 16.2.15 wrote.
var (
	parentHeader = map[string]string{
		"create_timestamp": "15c4016b7eac3f28", "features": "0101000000000000", "metadata_k": "76", "op_features": "0d00000000000000", "order": "16",
		"object_prefix":                  "150000007262645f646174612e313033336461643866306537",
		"rbd_group_ref":                  "01011800000004000000000000000c000000313034353662386234353637",
		"size":                           "0000000400000000",
		"snap_children_0000000000000004": "0100000002011e00000004000000000000000c000000313033666339326661643633020000006e73",
		"snap_seq":                       "0600000000000000",
		"snapshot_0000000000000004":      "08086100000004000000000000002400000037316339396364312d323037652d343033312d396266362d316333646235623236396435000000040000000000000000000000000001010d0000000200000001000000730000000016c4016bdb97d42a0100000000",
		"snapshot_0000000000000005":      "0808350000000500000000000000010000007000000004000000000200000000000000000101040000000000000017c4016bc809322b0000000000",
		"snapshot_0000000000000006":      "08087e0000000600000000000000220000002e67726f75702e345f3130343536623862343536375f313034623662386234353637000000040000000000000000000000000001012c0000000100000004000000000000000c0000003130343536623862343536370c00000031303462366238623435363719c4016bfccd311e0000000000",
	}
	cloneHeader = map[string]string{
		"features": "0101000000000000", "order": "16", "size": "0000000400000000",
		"parent": "02022d0000000400000000000000000000000c0000003130333364616438663065370500000000000000010000000400000000",
	}
)

func TestAddHeader(t *testing.T) {
	tests := map[string]struct {
		reason string
		omap   map[string]string
		want   RBDImage
	}{
		"Parent": {
			reason: "a snapshot of each kind, a clone in another namespace, a group",
			omap:   parentHeader,
			want: RBDImage{
				Header: true, Size: 64 << 20, Order: 22, Features: 257, Metadata: map[string]string{"k": "v"},
				Created: time.Date(2026, 11, 21, 16, 17, 25, 675261566, time.UTC),
				Group:   &GroupRef{PoolID: 4, ID: "10456b8b4567"},
				Snapshots: []ImageSnapshot{
					{ID: 4, Name: "71c99cd1-207e-4031-9bf6-1c3db5b269d5", Kind: TrashSnapshot, Children: []ImageRef{{PoolID: 4, Namespace: "ns", ID: "103fc92fad63"}}},
					{ID: 5, Name: "p", Protected: true},
					{ID: 6, Name: ".group.4_10456b8b4567_104b6b8b4567", Kind: GroupSnapshot},
				},
			},
		},
		"Clone": {
			reason: "the parent with its snapshot",
			omap:   cloneHeader,
			want: RBDImage{Header: true, Size: 64 << 20, Order: 22, Features: 257,
				Parent: &ImageParent{ImageRef: ImageRef{PoolID: 4, ID: "1033dad8f0e7"}, SnapID: 5}},
		},
		"DataPool": {
			reason: "the data is in another pool",
			omap:   map[string]string{"data_pool_id": "0700000000000000"},
			want:   RBDImage{Header: true, DataPool: 7},
		},
		"Flattened": {
			reason: "a parent that was taken away",
			omap:   map[string]string{"parent": "020219000000ffffffffffffffff0000000000000000feffffffffffffff00"},
			want:   RBDImage{Header: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got RBDImage
			if err := got.AddHeader(omapOf(t, tc.omap)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAddHeaderErrors(t *testing.T) {
	either := func(key string) string { return parentHeader[key] + cloneHeader[key] }
	for key, cut := range map[string]int{"parent": 20, "rbd_group_ref": 20, "snapshot_0000000000000005": 40, "snap_children_0000000000000004": 40, "size": 2, "order": 0} {
		value := either(key)[:cut]
		var image RBDImage
		if err := image.AddHeader(omapOf(t, map[string]string{key: value})); err == nil {
			t.Errorf("%s: a part of a value is accepted: %+v", key, image)
		}
	}
	var image RBDImage
	if err := image.AddHeader(map[string][]byte{"snap_children_x": nil}); err == nil {
		t.Error("a snapshot without number is accepted")
	}
}

func TestParseTrashEntry(t *testing.T) {
	tests := map[string]struct {
		value string
		want  TrashEntry
	}{
		"Moved":    {"02011700000000010000007419c4016b32f7743919c4016b32f7743900", TrashEntry{Name: "t"}},
		"CutOff":   {"02011700000000010000007419c4016b32f7743919c4016b32f7743901", TrashEntry{Name: "t", State: TrashMoving}},
		"Removing": {"02011700000003010000007419c4016b32f7743919c4016b32f7743902", TrashEntry{Name: "t", Removing: true, State: TrashRemoving}},
		"Old":      {"01011600000000010000007419c4016b32f7743919c4016b32f77439", TrashEntry{Name: "t"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseTrashEntry(mustHex(t, tc.value))
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := ParseTrashEntry(mustHex(t, "0201170000000001")); err == nil {
		t.Error("a value that is cut off is accepted")
	}
}

func TestParseGroupSnapshot(t *testing.T) {
	name, err := ParseGroupSnapshot(mustHex(t, "0101410000000c000000313034623662386234353637020000006773010100000001012000000004000000000000000c0000003130333364616438663065370600000000000000"))
	if err != nil || name != "gs" {
		t.Errorf("got %q, %v", name, err)
	}
}

func TestParseEncodedString(t *testing.T) {
	if id, err := ParseEncodedString(mustHex(t, "0c000000313033666339326661643633")); err != nil || id != "103fc92fad63" {
		t.Errorf("got %q, %v", id, err)
	}
	if _, err := ParseEncodedString(mustHex(t, "ffffffff31")); err == nil {
		t.Error("a length beyond the end is accepted")
	}
}

func TestImageTraits(t *testing.T) {
	for _, i := range []RBDImage{{Features: 1 << 6}, {Features: 1 << 10}, {Mirrored: true}, {Snapshots: []ImageSnapshot{{Kind: MirrorSnapshot}}}} {
		if !i.Replicated() {
			t.Errorf("%+v counts as not replicated", i)
		}
	}
	if plain := (RBDImage{Features: 61, Snapshots: []ImageSnapshot{{Kind: TrashSnapshot}}}); plain.Replicated() || plain.Migrating() {
		t.Error("a plain image counts as replicated or migrating")
	}
	if !(RBDImage{Features: 1 << 9}).Migrating() {
		t.Error("a migrating image is not seen")
	}
	if n := (RBDImage{Size: 1 << 30, Order: 22}).Objects(); n != 257 {
		t.Errorf("1 GiB has at most %d objects", n)
	}
	if path := (RBDImage{ImageRef: ImageRef{Namespace: "n"}, Pool: "p", Name: "i"}).Path(); path != "p/n/i" {
		t.Errorf("the path is %q", path)
	}
}

func FuzzAddHeader(f *testing.F) {
	for _, header := range []map[string]string{parentHeader, cloneHeader} {
		for key, value := range header {
			f.Add(key, mustHex(f, value))
		}
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		var image RBDImage
		_ = image.AddHeader(map[string][]byte{key: value})
		_, _ = ParseTrashEntry(value)
		_, _ = ParseGroupSnapshot(value)
		if text, err := ParseEncodedString(value); err == nil && len(text) > len(value) {
			t.Errorf("%d bytes hold a string of %d", len(value), len(text))
		}
	})
}
