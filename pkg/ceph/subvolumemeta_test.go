package ceph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the mgr of Ceph 16.2.15 wrote.
const (
	completeMeta = `[GLOBAL]
version = 2
type = subvolume
path = /volumes/csi/csi-vol-0a1b2c3d-0000-4000-8000-00000000000a/8f9dccdb-8cf8-4644-8c39-bfb9f8024213
state = complete

[USER_METADATA]
csi.ceph.com/cluster/name = cluster-a
csi.storage.k8s.io/pvc/name = data
csi.storage.k8s.io/pv/name = pvc-1

[SNAP_METADATA_csi-snap-0a1b2c3d-0000-4000-8000-00000000000b]
csi.ceph.com/cluster/name = cluster-b

[clone snaps]
5d7a2f8e-1111-4000-8000-000000000001 = csi-vol-0a1b2c3d-0000-4000-8000-00000000000c

`
	retainedMeta = `[GLOBAL]
version = 2
type = clone
path = 
state = snapshot-retained

[SNAP_METADATA_s]
csi.ceph.com/cluster/name = cluster-a

`
	cloneMeta = `[GLOBAL]
version = 2
type = clone
path = /volumes/csi/c/1
state = pending

[source]
volume = myfs
group = csi
subvolume = v
snapshot = s

`
)

func TestParseSubvolumeMeta(t *testing.T) {
	none := map[string]string{}
	tests := map[string]struct {
		reason string
		text   string
		want   SubvolumeMeta
	}{
		"Complete": {
			reason: "everything that can stand in the file", text: completeMeta,
			want: SubvolumeMeta{
				Version: 2, Type: "subvolume", State: SubvolumeComplete,
				Path:      "/volumes/csi/csi-vol-0a1b2c3d-0000-4000-8000-00000000000a/8f9dccdb-8cf8-4644-8c39-bfb9f8024213",
				Metadata:  map[string]string{TagCluster: "cluster-a", TagPVC: "data", TagPV: "pvc-1"},
				Snapshots: map[string]map[string]string{"csi-snap-" + uuidB: {TagCluster: "cluster-b"}},
				Copying:   []string{"csi-vol-0a1b2c3d-0000-4000-8000-00000000000c"},
			},
		},
		"Retained": {
			reason: "an empty path, and no tags but those of the snapshots", text: retainedMeta,
			want: SubvolumeMeta{Version: 2, Type: "clone", State: SubvolumeRetained, Metadata: none, Snapshots: map[string]map[string]string{"s": {TagCluster: "cluster-a"}}},
		},
		"Clone": {
			reason: "in flight", text: cloneMeta,
			want: SubvolumeMeta{Version: 2, Type: "clone", State: "pending", Path: "/volumes/csi/c/1", Metadata: none, Snapshots: map[string]map[string]string{}},
		},
		"Values": {
			reason: "lines, percent signs, delimiters and brackets in values and names",
			text:   "[GLOBAL]\nversion = 1\ntype = subvolume\nstate = complete\n[USER_METADATA]\na = one\n\ttwo\n\t\n\n\tthree\nb = 5%%\nc = x=y: [z]\nd = \n[SNAP_METADATA_[x]]\nk = v\n",
			want: SubvolumeMeta{
				Version: 1, Type: "subvolume", State: SubvolumeComplete,
				Metadata:  map[string]string{"a": "one\ntwo\nthree", "b": "5%", "c": "x=y: [z]", "d": ""},
				Snapshots: map[string]map[string]string{"[x]": {"k": "v"}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSubvolumeMeta([]byte(tc.text))
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestParseSubvolumeMetaErrors(t *testing.T) {
	const head = "[GLOBAL]\nversion = 2\ntype = subvolume\nstate = complete\n"
	tests := map[string]struct{ text, want string }{
		"Empty":          {"", "no type"},
		"NoState":        {"[GLOBAL]\nversion = 2\ntype = clone\n", "no state"},
		"Version":        {strings.Replace(head, "2", "3", 1), "version"},
		"NoVersion":      {strings.Replace(head, "version", "x", 1), "version"},
		"UnknownSection": {head + "[SOMETHING]\na = b\n", "not known"},
		"Defaults":       {head + "[DEFAULT]\n" + TagCluster + " = cluster-a\n", "not known"},
		"SectionTwice":   {head + "[USER_METADATA]\na = b\n[USER_METADATA]\nc = d\n", "line 7"},
		"KeyTwice":       {head + "[USER_METADATA]\na = b\na = c\n", "twice"},
		"KeyEmpty":       {head + "[USER_METADATA]\n= b\n", "empty"},
		"NoSection":      {"a = b\n" + head, "no section"},
		"OpenSection":    {head + "[USER_METADATA\n", "no section"},
		"NamelessSnap":   {head + "[SNAP_METADATA_]\na = b\n", "not known"},
		"NoDelimiter":    {head + "[USER_METADATA]\nabc\n", "key = value"},
		"Comment":        {head + "[USER_METADATA]\n# a = b\n", "key = value"},
		"Reference":      {head + "[USER_METADATA]\na = %(path)s\n", "refers"},
		"Continuation":   {head + "[USER_METADATA]\n\tx\n", "continues nothing"},
		"Binary":         {head + "[USER_METADATA]\na = \xff\n", "UTF-8"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSubvolumeMeta([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("read %+v: %v", got, err)
			}
		})
	}
}

func FuzzParseSubvolumeMeta(f *testing.F) {
	f.Add(completeMeta)
	f.Add(retainedMeta)
	f.Add(cloneMeta)
	f.Add("[GLOBAL]\nversion : 2\r\ntype=subvolume\nstate = a\n b\n[CLONE_FAILURE]\nerrno = 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		meta, err := ParseSubvolumeMeta([]byte(text))
		if err != nil {
			return
		}
		if meta.Type == "" || meta.State == "" || meta.Metadata == nil || meta.Snapshots == nil {
			t.Errorf("%q reads as %+v", text, meta)
		}
		if owner := meta.Metadata[TagCluster]; owner != "" && !strings.Contains(strings.ReplaceAll(text, "%%", "%"), strings.Split(owner, "\n")[0]) {
			t.Errorf("%q does not name owner %q", text, owner)
		}
	})
}
