package driver

import "testing"

// TestSwitches: ceph-csi reads its parameters that switch something with strconv.ParseBool.
func TestSwitches(t *testing.T) {
	tests := map[string]struct {
		reads     func(map[string]string) bool
		parameter string
	}{
		"OtherMounters":   {InUserSpace, "tryOtherMounters"},
		"StaticVolume":    {Static, "staticVolume"},
		"BackingSnapshot": {Shows, "backingSnapshot"},
	}
	values := map[string]bool{
		"true": true, "True": true, "TRUE": true, "t": true, "1": true,
		"false": false, "0": false, "": false, "yes": false,
	}
	for name, tc := range tests {
		for value, want := range values {
			t.Run(name+"/"+value, func(t *testing.T) {
				if got := tc.reads(map[string]string{tc.parameter: value}); got != want {
					t.Errorf("%s: %q is taken for %t", tc.parameter, value, got)
				}
			})
		}
		if tc.reads(nil) {
			t.Errorf("%s is on where nothing says so", tc.parameter)
		}
	}
}
