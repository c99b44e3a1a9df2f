package ceph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// RefTrackerVersionKey is the attribute with the version of an object of references.
const RefTrackerVersionKey = "csi.ceph.com/rt-version"

// refTrackerVersion is the only one so far.
const refTrackerVersion = 1

// RefTracker is the content of an object in which ceph-csi counts the shallow volumes of a CephFS
// snapshot: the snapshot itself, by its handle, and the volumes, by their names ("csi-vol-…").
type RefTracker struct {
	// Count is how many of them count.
	Count uint32
	// Masked says of each whether it was deleted already, and counts no more.
	Masked map[string]bool
}

// ParseRefTracker reads the data of the object, its version attribute and its omap. It refuses a
// count that its keys do not give.
func ParseRefTracker(data, version []byte, keys map[string][]byte) (RefTracker, error) {
	const normal, masked = 1, 2
	if len(version) != 4 || binary.BigEndian.Uint32(version) != refTrackerVersion {
		return RefTracker{}, errors.New("reading a reference tracker: its version is not known")
	}
	if len(data) != 4 {
		return RefTracker{}, fmt.Errorf("reading a reference tracker: the count has %d bytes", len(data))
	}
	t := RefTracker{Count: binary.BigEndian.Uint32(data), Masked: map[string]bool{}}
	counted := uint32(0)
	for key, value := range keys {
		switch {
		case len(value) == 1 && value[0] == normal:
			counted++
			t.Masked[key] = false
		case len(value) == 1 && value[0] == masked:
			t.Masked[key] = true
		default:
			return RefTracker{}, fmt.Errorf("reading a reference tracker: key %s has an unknown value", quote(key))
		}
	}
	if counted != t.Count {
		return RefTracker{}, fmt.Errorf("reading a reference tracker: it counts %d, but %d keys do", t.Count, counted)
	}
	return t, nil
}

// EncodeRefCount is the data of an object with a count.
func EncodeRefCount(count uint32) []byte { return binary.BigEndian.AppendUint32(nil, count) }

// Drop returns the count without some of the keys, which of those are there, and whether any
// other is.
func (t RefTracker) Drop(keys []string) (count uint32, found []string, others bool) {
	count = t.Count
	for _, key := range keys {
		masked, there := t.Masked[key]
		if !there || slices.Contains(found, key) {
			continue
		}
		found = append(found, key)
		if !masked {
			count--
		}
	}
	return count, found, len(found) < len(t.Masked)
}
