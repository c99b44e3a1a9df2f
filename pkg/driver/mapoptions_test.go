package driver

import "testing"

func TestJoinMapOptions(t *testing.T) {
	tests := map[string]struct{ options, want string }{
		"":                                  {want: "krbd:rxbounce"},
		"krbd:ms_mode=secure;nbd:timeout=1": {want: "krbd:ms_mode=secure,rxbounce;nbd:timeout=1"},
		"ms_mode=secure":                    {want: "krbd:ms_mode=secure,rxbounce"},
		"krbd:rxbounce":                     {want: "krbd:rxbounce"},
	}
	for options, tc := range tests {
		if got := JoinMapOptions(options, "krbd:rxbounce"); got != tc.want {
			t.Errorf("%q: got %q, want %q", options, got, tc.want)
		}
	}
}
