package ceph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	handleUUID = "6e696bba-064f-11ec-a251-0242ac110002"
	goodHandle = "0001-0024-" + fsidA + "-0000000000000006-" + handleUUID
)

func TestParseVolumeHandle(t *testing.T) {
	tests := map[string]struct {
		reason string
		handle string
		want   VolumeHandle
	}{
		"FSID":      {"the clusterID of our classes", goodHandle, VolumeHandle{ClusterID: fsidA, LocationID: 6, UUID: handleUUID}},
		"Namespace": {"Rook's clusterID", "0001-0009-rook-ceph-00000000000000ff-" + handleUUID, VolumeHandle{ClusterID: "rook-ceph", LocationID: 255, UUID: handleUUID}},
		"Migrated": {"an image of the in-tree plugin", "mig_mons-b7f67366bb43f32e07d8a261a7840da9_image-" + handleUUID + "_706f6f6c5f61",
			VolumeHandle{ClusterID: "b7f67366bb43f32e07d8a261a7840da9", UUID: handleUUID, Pool: "pool_a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseVolumeHandle(tc.handle)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParseVolumeHandleErrors(t *testing.T) {
	for name, handle := range map[string]string{
		"Empty":           "",
		"FreeText":        "my-image",
		"OtherVersion":    "0002" + goodHandle[4:],
		"WrongLength":     strings.Replace(goodHandle, "0024", "0023", 1),
		"SignedLength":    strings.Replace(goodHandle, "0024", "+024", 1),
		"NoClusterID":     "0001-0000--0000000000000006-" + handleUUID,
		"LocationNoHex":   strings.Replace(goodHandle, "-0000000000000006-", "-000000000000000g-", 1),
		"LocationSigned":  strings.Replace(goodHandle, "-0000000000000006-", "--000000000000006-", 1),
		"LocationTooBig":  strings.Replace(goodHandle, "-0000000000000006-", "-ffffffffffffffff-", 1),
		"CutOff":          goodHandle[:len(goodHandle)-1],
		"Prefix":          "0001-",
		"Long":            goodHandle + strings.Repeat("a", 100),
		"MigratedNoPool":  "mig_mons-a_image-b_",
		"MigratedNoHex":   "mig_mons-a_image-b_x",
		"MigratedNoImage": "mig_mons-a_b_61",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseVolumeHandle(handle)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if !strings.Contains(err.Error(), "is not a volume handle") {
				t.Errorf("got %q", err)
			}
		})
	}
}

func FuzzParseVolumeHandle(f *testing.F) {
	f.Add(goodHandle)
	f.Add("0001-0009-rook-ceph-00000000000000ff-" + handleUUID)
	f.Add("mig_mons-b7f67366bb43f32e07d8a261a7840da9_image-" + handleUUID + "_706f6f6c5f61")
	f.Add("0001-ffff-")
	f.Fuzz(func(t *testing.T, handle string) {
		got, err := ParseVolumeHandle(handle)
		noKey(t, err)
		if err != nil {
			return
		}
		if got.ClusterID == "" || got.LocationID < 0 || !strings.Contains(handle, got.ClusterID) || !strings.Contains(handle, got.UUID) {
			t.Errorf("%q reads as %+v", handle, got)
		}
		if (got.Pool == "") == strings.HasPrefix(handle, migratedHandle) {
			t.Errorf("%q has pool %q", handle, got.Pool)
		}
	})
}

func BenchmarkParseVolumeHandle(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseVolumeHandle(goodHandle); err != nil {
			b.Fatal(err)
		}
	}
}
