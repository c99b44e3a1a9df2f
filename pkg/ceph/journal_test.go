package ceph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	uuidA = "0a1b2c3d-0000-4000-8000-00000000000a"
	uuidB = "0a1b2c3d-0000-4000-8000-00000000000b"
)

func TestParseJournalName(t *testing.T) {
	backing := "0001-0024-" + fsidA + "-0000000000000001-" + uuidA
	tests := map[string]struct {
		object string
		want   JournalName
	}{
		"Volumes":    {"csi.volumes.default", JournalName{Kind: JournalVolume, Directory: true}},
		"Snapshots":  {"csi.snaps.default", JournalName{Kind: JournalSnapshot, Directory: true}},
		"Groups":     {"csi.groups.default", JournalName{Kind: JournalGroup, Directory: true}},
		"Instance":   {"csi.volumes.another", JournalName{Kind: JournalVolume, Directory: true}},
		"Volume":     {"csi.volume." + uuidA, JournalName{Kind: JournalVolume, UUID: uuidA}},
		"Snapshot":   {"csi.snap." + uuidA, JournalName{Kind: JournalSnapshot, UUID: uuidA}},
		"Group":      {"csi.volume.group." + uuidA, JournalName{Kind: JournalGroup, UUID: uuidA}},
		"References": {"rt-backingsnapshot-" + backing, JournalName{Kind: JournalReferences, Handle: backing}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseJournalName(tc.object)
			if diff := cmp.Diff(tc.want, got); !ok || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.object, ok, diff)
			}
			if !got.Directory && got.Object() != tc.object {
				t.Errorf("the name of the object becomes %q", got.Object())
			}
		})
	}
}

func TestParseJournalNameErrors(t *testing.T) {
	for _, object := range []string{
		"", "rbd_directory", "csi.volume.", "csi.volume.mine", "csi.volume." + uuidA + "x", "csi.snap.group." + uuidA,
		"csi.volumes.", "csi.snaps.", "csi.groups.", "rt-backingsnapshot-", "csi.volume.group.x", "csi.volume.0A1B2C3D-0000-4000-8000-00000000000A",
		"x" + "csi.volume." + uuidA,
	} {
		if got, ok := ParseJournalName(object); ok {
			t.Errorf("%q reads as %+v", object, got)
		}
	}
}

func TestParseCSIName(t *testing.T) {
	tests := map[string]struct {
		name string
		want CSIName
		ok   bool
	}{
		"Volume":        {"csi-vol-" + uuidA, CSIName{Prefix: "csi-vol-", UUID: uuidA}, true},
		"OwnPrefix":     {"shop-" + uuidA, CSIName{Prefix: "shop-", UUID: uuidA}, true},
		"NoPrefix":      {uuidA, CSIName{UUID: uuidA}, true},
		"Temporary":     {"csi-vol-" + uuidA + "-temp", CSIName{Prefix: "csi-vol-", UUID: uuidA, Temporary: true}, true},
		"TwiceTemp":     {"csi-vol-" + uuidA + "-temp-temp", CSIName{}, false},
		"Copy":          {"csi-vol-" + uuidA + "-copy", CSIName{}, false},
		"UpperCase":     {"csi-vol-0A1B2C3D-0000-4000-8000-00000000000A", CSIName{}, false},
		"DashMisplaced": {"csi-vol-0a1b2c3d0-000-4000-8000-00000000000a", CSIName{}, false},
		"Short":         {"disk", CSIName{}, false},
		"Empty":         {"", CSIName{}, false},
		"OnlySuffix":    {"-temp", CSIName{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseCSIName(tc.name)
			if diff := cmp.Diff(tc.want, got); ok != tc.ok || diff != "" {
				t.Errorf("%q: %v (-want +got):\n%s", tc.name, ok, diff)
			}
		})
	}
	if owner := (CSIName{Prefix: "csi-vol-", UUID: uuidA, Temporary: true}).Owner(); owner != "csi-vol-"+uuidA {
		t.Errorf("the owner of a temporary image is %q", owner)
	}
}

func TestSnapshotShown(t *testing.T) {
	for folder, want := range map[string]string{
		"daily":                   "daily",
		"_daily_1099511627776":    "daily",
		"_my_daily_1099511627776": "my_daily",
		"_daily":                  "_daily",
		"_daily_x":                "_daily_x",
		"my_1":                    "my_1",
		"_":                       "_",
		"":                        "",
	} {
		if got := SnapshotShown(folder); got != want {
			t.Errorf("%q shows %q, want %q", folder, got, want)
		}
	}
}
