package teardown

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func FuzzParseFilesRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"infraID":"a"}`), "a")
	f.Add([]byte(`{"version":1,"infraID":"a","entries":[{}]}`), "a")
	f.Fuzz(func(t *testing.T, content []byte, infraID string) {
		record, err := parseFilesRecord(content, "pool", infraID, "run")
		if err != nil {
			return
		}
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseFilesRecord(text, "pool", infraID, "run")
		if err != nil || !reflect.DeepEqual(record, again) {
			t.Errorf("%q was read as %+v, and that as %+v: %v", content, record, again, err)
		}
	})
}

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
