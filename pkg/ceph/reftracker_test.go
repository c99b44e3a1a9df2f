package ceph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefTracker(t *testing.T) {
	version := []byte{0, 0, 0, 1}
	normal, masked := []byte{1}, []byte{2}
	tests := map[string]struct {
		reason  string
		data    []byte
		version []byte
		keys    map[string][]byte
		want    RefTracker
		fault   string
	}{
		"Alive": {
			reason: "a snapshot and its shallow volume", data: EncodeRefCount(2), version: version,
			keys: map[string][]byte{"h": normal, "csi-vol-a": normal},
			want: RefTracker{Count: 2, Masked: map[string]bool{"h": false, "csi-vol-a": false}},
		},
		"Deleted": {
			reason: "the snapshot was deleted, the volume keeps it", data: EncodeRefCount(1), version: version,
			keys: map[string][]byte{"h": masked, "csi-vol-a": normal},
			want: RefTracker{Count: 1, Masked: map[string]bool{"h": true, "csi-vol-a": false}},
		},
		"Version":    {reason: "of a later ceph-csi", data: EncodeRefCount(0), version: []byte{0, 0, 0, 2}, fault: "version"},
		"NoVersion":  {reason: "not written by ceph-csi", data: EncodeRefCount(0), fault: "version"},
		"ShortCount": {reason: "half a count", data: []byte{1}, version: version, fault: "1 bytes"},
		"Miscounted": {reason: "somebody wrote half", data: EncodeRefCount(3), version: version, keys: map[string][]byte{"h": normal}, fault: "counts 3"},
		"Value":      {reason: "an unknown mark", data: EncodeRefCount(1), version: version, keys: map[string][]byte{"h": {7}}, fault: "unknown value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRefTracker(tc.data, tc.version, tc.keys)
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("%s: %+v, %v", tc.reason, got, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestDropReferences(t *testing.T) {
	tracker := RefTracker{Count: 2, Masked: map[string]bool{"h": true, "a": false, "b": false}}
	tests := map[string]struct {
		keys   []string
		count  uint32
		found  []string
		others bool
	}{
		"Nobody":  {keys: []string{"c"}, count: 2, others: true},
		"One":     {keys: []string{"a"}, count: 1, found: []string{"a"}, others: true},
		"Twice":   {keys: []string{"a", "a"}, count: 1, found: []string{"a"}, others: true},
		"Volumes": {keys: []string{"b", "a"}, count: 0, found: []string{"b", "a"}, others: true},
		"Masked":  {keys: []string{"h"}, count: 2, found: []string{"h"}, others: true},
		"All":     {keys: []string{"h", "a", "b", "c"}, count: 0, found: []string{"h", "a", "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			count, found, others := tracker.Drop(tc.keys)
			if count != tc.count || !cmp.Equal(found, tc.found) || others != tc.others {
				t.Errorf("%d, %q, %v", count, found, others)
			}
		})
	}
}
