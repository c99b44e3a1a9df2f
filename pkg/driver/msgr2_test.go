package driver

import "testing"

func TestMsgr2(t *testing.T) {
	tests := map[string]struct {
		options string
		want    bool
	}{
		"Unset":       {"", false},
		"Mount":       {"noatime,ms_mode=prefer-crc", true},
		"MountLegacy": {"ms_mode=legacy", false},
		"Map":         {"ms_mode=secure", true},
		"MapOfKRBD":   {"nbd:try-netlink;krbd:lock_on_read,ms_mode=crc", true},
		"OtherOption": {"krbd:no_ms_mode=crc", false},
	}
	for name, tc := range tests {
		if got := Msgr2(tc.options); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
