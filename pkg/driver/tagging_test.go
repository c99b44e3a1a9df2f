package driver

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const volumeUUID = "6e696bba-064f-11ec-a251-0242ac110002"

// found answers every question about places with the place itself.
type found struct {
	*fakeCeph
	// journals by pool, RADOS namespace and object.
	journals map[string]map[string]string
	denied   bool
}

func (f found) JournalEntry(_ context.Context, pool, namespace, object string) (map[string]string, error) {
	if f.denied {
		return nil, ceph.ErrDenied
	}
	if entry, known := f.journals[pool+"/"+namespace+"/"+object]; known {
		return entry, nil
	}
	return nil, ceph.ErrNotFound
}

func (f found) ImageMetadata(_ context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error) {
	return ceph.ImageMetadata{Values: map[string]string{"at": at.String()}}, nil
}

func (f found) SubvolumeMetadata(_ context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error) {
	var out []ceph.SubvolumeMetadata
	for _, at := range places {
		if at.Filesystem != filesystem {
			return nil, errBoom
		}
		out = append(out, ceph.SubvolumeMetadata{Values: map[string]string{"at": at.String()}})
	}
	return out, nil
}

func (found) ChangeImageMetadata(context.Context, ceph.ImagePlace, ceph.ImageMetadata, ceph.MetadataChange) error {
	return errBoom
}

// ChangeSubvolumeMetadata is silent about filesystem "silent", and refuses filesystem "idle".
func (found) ChangeSubvolumeMetadata(_ context.Context, filesystem string, changes []ceph.SubvolumeChange) ([]error, error) {
	switch filesystem {
	case "silent":
		return []error{nil}, ceph.ErrTimeout
	case "idle":
		return nil, ceph.ErrNoActiveMDS
	}
	var errs []error
	for _, c := range changes {
		if c.At.Filesystem != filesystem {
			return nil, errBoom
		}
		errs = append(errs, nil)
	}
	return errs, nil
}

func volumeHandle(location int) string {
	return fmt.Sprintf("0001-0004-fsid-%016x-%s", location, volumeUUID)
}

func TestWhereTagsAre(t *testing.T) {
	const entry = "csi.volume." + volumeUUID
	named := map[string]string{"csi.imagename": "shop-" + volumeUUID}
	taken := map[string]string{"csi.imagename": "shop-" + volumeUUID, "csi.source": "vol-1"}
	shows := func(location int) map[string]string {
		return map[string]string{"csi.volume.backingsnapshotid": volumeHandle(location)}
	}
	cluster := found{fakeCeph: &fakeCeph{
		pools: []ceph.Pool{{ID: 3, Name: "rbd"}, {ID: 4, Name: "meta"}, {ID: 5, Name: "b"}},
		filesystems: []ceph.FileSystem{
			{ID: 1, Name: "fs", MetadataPool: 4, Default: true}, {ID: 2, Name: "gone", MetadataPool: 99},
		},
	}}
	tests := map[string]struct {
		reason string
		driver Driver
		handle string
		values map[string]string
		// configured is the RADOS namespace in config.json.
		configured string
		// snapshot says that the handle is a snapshot's; group is the subvolume group in config.json.
		snapshot bool
		group    string
		journals map[string]map[string]string
		denied   bool
		want     string
		shown    bool
		// unrecorded says that ceph-csi does not find it.
		unrecorded bool
		err        error
	}{
		"Image":              {reason: "the journal names it", driver: RBD, handle: volumeHandle(3), journals: map[string]map[string]string{"rbd//" + entry: named}, want: "rbd/shop-" + volumeUUID},
		"ImageNamespace":     {reason: "of a tenant", driver: RBD, handle: volumeHandle(3), values: map[string]string{"radosNamespace": "t"}, journals: map[string]map[string]string{"rbd/t/" + entry: named}, want: "rbd/t/shop-" + volumeUUID},
		"ImageConfigured":    {reason: "the attributes of older volumes do not tell", driver: RBD, handle: volumeHandle(3), configured: "t", journals: map[string]map[string]string{"rbd/t/" + entry: named}, want: "rbd/t/shop-" + volumeUUID},
		"JournalConfigured":  {reason: "somewhere else than usual", driver: CephFS, handle: volumeHandle(1), configured: "j", journals: map[string]map[string]string{"meta/j/" + entry: named}, want: "fs/csi/shop-" + volumeUUID},
		"JournalAstray":      {reason: "ceph-csi mixes up namespaces", driver: RBD, handle: volumeHandle(3), values: map[string]string{"radosNamespace": "t"}, journals: map[string]map[string]string{"rbd//" + entry: named}, want: "rbd/t/shop-" + volumeUUID},
		"HalfJournal":        {reason: "the other half is elsewhere", driver: RBD, handle: volumeHandle(3), values: map[string]string{"radosNamespace": "t"}, journals: map[string]map[string]string{"rbd/t/" + entry: {"csi.imageid": "1"}, "rbd//" + entry: named}, want: "rbd/t/shop-" + volumeUUID},
		"NoJournal":          {reason: "the usual name", driver: RBD, handle: volumeHandle(3), want: "rbd/csi-vol-" + volumeUUID},
		"RenamedPool":        {reason: "the ID counts, not the attribute", driver: RBD, handle: volumeHandle(5), values: map[string]string{"pool": "a"}, want: "b/csi-vol-" + volumeUUID},
		"NoPool":             {reason: "it was removed", driver: RBD, handle: volumeHandle(9), err: ceph.ErrNotFound},
		"DeniedImage":        {reason: "a journal that may not be read is said", driver: RBD, handle: volumeHandle(3), denied: true, err: ceph.ErrDenied},
		"StaticImage":        {reason: "the handle is the image", driver: RBD, handle: "my-image", values: map[string]string{"pool": "rbd", "staticVolume": "true"}, want: "rbd/my-image"},
		"StaticNamespace":    {reason: "in a namespace", driver: RBD, handle: "my-image", values: map[string]string{"pool": "rbd", "staticVolume": "true", "radosNamespace": "t"}, want: "rbd/t/my-image"},
		"UnknownHandle":      {reason: "not of ceph-csi", driver: RBD, handle: "my-image", values: map[string]string{"pool": "rbd"}, err: ErrNothingToTag},
		"Migrated":           {reason: "its name is not known", driver: RBD, handle: "mig_mons-b7f67366bb43f32e07d8a261a7840da9_image-" + volumeUUID + "_706f6f6c", err: ErrNothingToTag},
		"Subvolume":          {reason: "the journal names it", driver: CephFS, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: named}, want: "fs/csi/shop-" + volumeUUID},
		"SubvolumeGroup":     {reason: "the path tells the group", driver: CephFS, handle: volumeHandle(1), values: map[string]string{"subvolumePath": "/volumes/team"}, want: "fs/team/csi-vol-" + volumeUUID, unrecorded: true},
		"Pathless":           {reason: "config.json tells the group of a volume without a path", driver: CephFS, group: "team", handle: volumeHandle(1), want: "fs/team/csi-vol-" + volumeUUID, unrecorded: true},
		"Ungrouped":          {reason: "Ceph's directory of those", driver: CephFS, handle: volumeHandle(1), values: map[string]string{"subvolumePath": "/volumes/_nogroup/x/y"}, want: "fs/csi-vol-" + volumeUUID, unrecorded: true},
		"Unrecorded":         {reason: "the journal of the cluster before this one", driver: CephFS, handle: volumeHandle(1), configured: "j", journals: map[string]map[string]string{"meta/csi/" + entry: named}, want: "fs/csi/csi-vol-" + volumeUUID, unrecorded: true},
		"Shallow":            {reason: "it shows a snapshot", driver: CephFS, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: shows(1), "meta/csi/csi.snap." + volumeUUID: taken}, want: "fs/csi/vol-1@shop-" + volumeUUID, shown: true},
		"ShallowGroup":       {reason: "config.json tells the group", driver: CephFS, group: "team", handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: shows(1), "meta/csi/csi.snap." + volumeUUID: taken}, want: "fs/team/vol-1@shop-" + volumeUUID, shown: true},
		"ShallowGone":        {reason: "the snapshot's journal is gone", driver: CephFS, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: shows(1)}, err: ErrNothingToTag},
		"ShallowElsewhere":   {reason: "the snapshot is of another filesystem", driver: CephFS, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: shows(2), "meta/csi/csi.snap." + volumeUUID: taken}, err: ErrNothingToTag},
		"ShallowOdd":         {reason: "the snapshot's handle is none", driver: CephFS, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/" + entry: {"csi.volume.backingsnapshotid": "x"}}, err: ErrNothingToTag},
		"ShallowDenied":      {reason: "the attributes tell as well", driver: CephFS, handle: volumeHandle(1), values: map[string]string{"backingSnapshot": "true"}, denied: true, err: ErrNothingToTag},
		"Deep":               {reason: "the class only asks for shallow ones where that is possible", driver: CephFS, handle: volumeHandle(1), values: map[string]string{"backingSnapshot": "true"}, journals: map[string]map[string]string{"meta/csi/" + entry: named}, want: "fs/csi/shop-" + volumeUUID},
		"DeniedSubvolume":    {reason: "the mgr alone is enough", driver: CephFS, handle: volumeHandle(1), denied: true, want: "fs/csi/csi-vol-" + volumeUUID},
		"NoFilesystem":       {reason: "it was removed", driver: CephFS, handle: volumeHandle(7), err: ceph.ErrNotFound},
		"NoMetadataPool":     {reason: "the usual name", driver: CephFS, handle: volumeHandle(2), want: "gone/csi/csi-vol-" + volumeUUID},
		"StaticSubvolume":    {reason: "by its path", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "fsName": "fs", "rootPath": "/volumes/g/sub/uuid"}, want: "fs/g/sub"},
		"StaticDefault":      {reason: "in the default filesystem", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "rootPath": "/volumes/_nogroup/sub"}, want: "fs/sub"},
		"StaticDirectory":    {reason: "not in a subvolume", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "rootPath": "/data"}, err: ErrNothingToTag},
		"StaticGroup":        {reason: "a whole group", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "rootPath": "/volumes/g"}, err: ErrNothingToTag},
		"Snapshot":           {reason: "the journal of snapshots names it", driver: RBD, snapshot: true, handle: volumeHandle(3), journals: map[string]map[string]string{"rbd//csi.snap." + volumeUUID: named, "rbd//" + entry: {"csi.imagename": "no"}}, want: "rbd/shop-" + volumeUUID},
		"SnapshotNoJournal":  {reason: "the usual name", driver: RBD, snapshot: true, handle: volumeHandle(3), want: "rbd/csi-snap-" + volumeUUID},
		"SnapshotImported":   {reason: "not of ceph-csi", driver: RBD, snapshot: true, handle: "my-snap", err: ErrNothingToTag},
		"FileSnapshot":       {reason: "the journal names both", driver: CephFS, snapshot: true, handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/csi.snap." + volumeUUID: taken}, want: "fs/csi/vol-1@shop-" + volumeUUID},
		"FileSnapshotGroup":  {reason: "config.json tells the group", driver: CephFS, snapshot: true, group: "team", handle: volumeHandle(1), journals: map[string]map[string]string{"meta/csi/csi.snap." + volumeUUID: taken}, want: "fs/team/vol-1@shop-" + volumeUUID},
		"FileNoJournal":      {reason: "nothing else knows the subvolume", driver: CephFS, snapshot: true, handle: volumeHandle(1), err: ceph.ErrNotFound},
		"FileDenied":         {reason: "and it must be readable", driver: CephFS, snapshot: true, handle: volumeHandle(1), denied: true, err: ceph.ErrDenied},
		"StaticSnapshot":     {reason: "shows a snapshot", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "fsName": "fs", "rootPath": "/volumes/g/sub/uuid/.snap/_s_1099511627776"}, err: ErrNothingToTag},
		"StaticNoFilesystem": {reason: "no such filesystem", driver: CephFS, handle: "x", values: map[string]string{"staticVolume": "true", "fsName": "none", "rootPath": "/volumes/g/sub"}, err: ceph.ErrNotFound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := cluster
			cluster.journals, cluster.denied = tc.journals, tc.denied
			// Another one beside it must not change the order.
			volumes := []Volume{{Handle: "?"}, {Handle: tc.handle, Attributes: tc.values, Namespace: tc.configured, Snapshot: tc.snapshot, Group: tc.group}}
			got, err := tc.driver.Tagging.Tags(t.Context(), cluster, volumes)
			if err != nil || len(got) != 2 {
				t.Fatalf("got %+v, %v", got, err)
			}
			check(t, tc.reason, got[1].Err, tc.err, nil)
			if diff := cmp.Diff(tc.want, got[1].Values["at"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got[1].Shown != tc.shown || (got[1].Unrecorded != "") != tc.unrecorded {
				t.Errorf("%s: shown is %t, not recorded in %q", tc.reason, got[1].Shown, got[1].Unrecorded)
			}
			if tc.shown && got[1].ShownUUID() != volumeUUID {
				t.Errorf("%s: the snapshot is %q", tc.reason, got[1].ShownUUID())
			}
		})
	}
}

func TestClusterOfVolume(t *testing.T) {
	for want, v := range map[string]Volume{
		"fsid":  {Handle: volumeHandle(1), Attributes: map[string]string{"clusterID": "other"}},
		"other": {Handle: "static", Attributes: map[string]string{"clusterID": "other"}},
		"":      {Handle: "static"},
	} {
		if got := v.Cluster(); got != want {
			t.Errorf("%+v is in %q, want %q", v, got, want)
		}
	}
}

func TestTagCommands(t *testing.T) {
	image := Tags{image: ceph.ImagePlace{Pool: "p", Namespace: "n", Name: "i"}}
	grouped := Tags{subvolume: ceph.SubvolumePlace{Filesystem: "f", Group: "g", Name: "s"}}
	taken := Tags{subvolume: ceph.SubvolumePlace{Filesystem: "f", Group: "g", Name: "s", Snapshot: "x"}}
	for want, got := range map[string]string{
		"ceph fs subvolume snapshot metadata set f s x k v --group_name g": CephFS.Tagging.TagCommand(taken, "k", "v"),
		"snapshot f/g/s@x":             CephFS.Tagging.Where(taken),
		"rbd image-meta set p/n/i k v": RBD.Tagging.TagCommand(image, "k", "v"),
		"image p/n/i":                  RBD.Tagging.Where(image),
		"ceph fs subvolume metadata set f s k v --group_name g": CephFS.Tagging.TagCommand(grouped, "k", "v"),
		"subvolume f/g/s": CephFS.Tagging.Where(grouped),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRetag(t *testing.T) {
	in := func(filesystem string) Retag {
		return Retag{Tags: Tags{subvolume: ceph.SubvolumePlace{Filesystem: filesystem}}}
	}
	errs, err := CephFS.Tagging.Retag(t.Context(), found{}, []Retag{in("a"), in("a"), in("idle"), in("b"), in("a")})
	if err != nil || len(errs) != 5 {
		t.Fatalf("got %v, %v", errs, err)
	}
	for n, want := range []error{nil, nil, ceph.ErrNoActiveMDS, nil, nil} {
		check(t, "each has the error of its filesystem", errs[n], want, nil)
	}
	errs, err = CephFS.Tagging.Retag(t.Context(), found{}, []Retag{in("a"), in("silent"), in("silent"), in("a")})
	if !errors.Is(err, ceph.ErrTimeout) || len(errs) != 2 {
		t.Errorf("a silent Ceph ends it: %v, %v", errs, err)
	}
}
