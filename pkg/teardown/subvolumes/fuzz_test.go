package subvolumes

import (
	"encoding/json"
	"reflect"
	"testing"
)

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"infraID":"a"}`), "a")
	f.Add([]byte(`{"version":1,"infraID":"a","entries":[{}]}`), "a")
	f.Fuzz(func(t *testing.T, content []byte, infraID string) {
		record, err := parseRecord(content, "pool", infraID, "run")
		if err != nil {
			return
		}
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseRecord(text, "pool", infraID, "run")
		if err != nil || !reflect.DeepEqual(record, again) {
			t.Errorf("%q was read as %+v, and that as %+v: %v", content, record, again, err)
		}
	})
}
