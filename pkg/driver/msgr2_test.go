package driver

import "testing"

func TestMsgr2(t *testing.T) {
	tests := map[string]struct {
		settings Settings
		want     bool
	}{
		"Unset":       {Settings{}, false},
		"Mount":       {Settings{KernelMountOptions: "noatime,ms_mode=prefer-crc"}, true},
		"MountLegacy": {Settings{KernelMountOptions: "ms_mode=legacy"}, false},
		"Map":         {Settings{MapOptions: "ms_mode=secure"}, true},
		"MapOfKRBD":   {Settings{MapOptions: "nbd:try-netlink;krbd:lock_on_read,ms_mode=crc"}, true},
		"OtherOption": {Settings{MapOptions: "krbd:no_ms_mode=crc"}, false},
		"LastMode":    {Settings{KernelMountOptions: "ms_mode=secure,ms_mode=legacy"}, false},
		"Fuse":        {Settings{FuseMountOptions: "ms_mode=secure"}, false},
	}
	for name, tc := range tests {
		if got := tc.settings.Msgr2(); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
