package access

import "testing"

func TestSizes(t *testing.T) {
	tests := map[string]struct {
		reason           string
		asked            int64
		image, subvolume uint64
	}{
		"Nothing": {"a class without a size", 0, 0, 4 * mebibyte},
		"Byte":    {"the smallest", 1, mebibyte, 4 * mebibyte},
		"Below":   {"no whole MiB", 5*mebibyte + 1, 6 * mebibyte, 8 * mebibyte},
		"Exact":   {"as asked", gibibyte, gibibyte, gibibyte},
		"Above":   {"whole GiB from one on", gibibyte + mebibyte, 2 * gibibyte, 2 * gibibyte},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if image, subvolume := ImageSize(tc.asked), SubvolumeSize(tc.asked); image != tc.image || subvolume != tc.subvolume {
				t.Errorf("%s: got %d and %d, want %d and %d", tc.reason, image, subvolume, tc.image, tc.subvolume)
			}
		})
	}
}
