package teardown

import (
	"strings"
	"testing"
)

func FuzzParseHandles(f *testing.F) {
	f.Add("# comment\n0001-0009-rook-ceph-0000000000000002-11111111-2222-4333-8444-555555555555 pv-1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever is said behind it, a name that stands there is kept.
		const uuid = "11111111-2222-4333-8444-555555555555"
		living := ParseHandles(text+"\n0001-0009-rook-ceph-0000000000000002-"+uuid+" pv-1\n", "handles")
		if whose := living.Names(Item{UUID: uuid}); !strings.Contains(whose, "handles") {
			t.Errorf("%q hides a volume: %q", text, whose)
		}
	})
}
