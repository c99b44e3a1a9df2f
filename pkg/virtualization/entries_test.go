package virtualization

import (
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	const (
		longhorn = `{"driver.longhorn.io":{"volumeSnapshotClassName":"longhorn-snapshot","backupVolumeSnapshotClassName":"longhorn"}}`
		odd      = "{ \"driver.longhorn.io\" : {\"b\":1,  \"a\":1e3},\n \"x\":null }"
		old, now = `{"c":"old"}`, `{"c":"new"}`
	)
	tests := map[string]struct {
		reason string
		facts  settingFacts
		want   outcome
		value  string
		err    string
	}{
		"Empty": {
			reason: "the value replaces the default: Longhorn's entry must go along",
			facts:  settingFacts{defaults: longhorn, wanted: now}, want: changed,
			value: strings.TrimSuffix(longhorn, "}") + `,"d":{"c":"new"}}`,
		},
		"NoDefault": {reason: "there is nothing to keep", facts: settingFacts{wanted: now}, want: changed, value: `{"d":{"c":"new"}}`},
		"Spaces":    {reason: "an empty object may have spaces", facts: settingFacts{value: "{ }", wanted: now}, want: changed, value: `{"d":{"c":"new"}}`},
		"Foreign": {
			reason: "others' entries stay byte for byte",
			facts:  settingFacts{value: odd, defaults: longhorn, wanted: now}, want: changed,
			value: "{ \"driver.longhorn.io\" : {\"b\":1,  \"a\":1e3},\n \"x\":null,\"d\":{\"c\":\"new\"} }",
		},
		"Update": {
			reason: "what we wrote follows",
			facts:  settingFacts{value: `{"d": {"c": "old"} , "x":0}`, wanted: now, applied: old}, want: changed, value: `{"d": {"c":"new"} , "x":0}`,
		},
		"Same":       {reason: "idle means idle", facts: settingFacts{value: `{"d":{ "c":"new"}}`, wanted: now, applied: now}},
		"ByHand":     {reason: "an administrator was faster", facts: settingFacts{value: `{"d":{"c":"new"}}`, wanted: now}},
		"Override":   {reason: "it was chosen", facts: settingFacts{value: `{"d":{"c":"mine"}}`, wanted: now, applied: old}, want: overridden, value: `{"c":"mine"}`},
		"First":      {reason: "it was there before us", facts: settingFacts{value: `{"d":{"c":"mine"}}`, wanted: now}, want: overridden, value: `{"c":"mine"}`},
		"Null":       {reason: "null is a value, too", facts: settingFacts{value: `{"d":null}`, wanted: now, applied: now}, want: overridden, value: "null"},
		"Removed":    {reason: "it was removed on purpose", facts: settingFacts{value: `{}`, wanted: now, applied: old}, want: withdrawn},
		"Twice":      {reason: "the last one counts", facts: settingFacts{value: `{"d":1,"d":{"c":"old"}}`, wanted: now, applied: old}, want: changed, value: `{"d":1,"d":{"c":"new"}}`},
		"NoneWanted": {reason: "there is no snapshot class yet", facts: settingFacts{value: `{}`}},
		"Broken":     {reason: "it is never overwritten", facts: settingFacts{value: `{"d":`, wanted: now}, err: "not JSON"},
		"More":       {reason: "it is never overwritten", facts: settingFacts{value: `{} {}`, wanted: now}, err: "not JSON"},
		"Array":      {reason: "it is never overwritten", facts: settingFacts{value: `[]`, wanted: now}, err: "not a JSON object"},
		"JSONNull":   {reason: "it is never overwritten", facts: settingFacts{value: `null`, wanted: now}, err: "not a JSON object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.facts.key = "d"
			got, value, err := merge(tc.facts)
			if got != tc.want || value != tc.value {
				t.Errorf("%s: got %d, %q, want %d, %q", tc.reason, got, value, tc.want, tc.value)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got error %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

func FuzzWithEntry(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, ` { "a" : [1 , 2] , "d":null } `, `{"d":{}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := readEntries(text)
		if err != nil {
			return
		}
		after, err := readEntries(withEntry(text, before, "d", `"x"`))
		if err != nil {
			t.Fatalf("%q became unreadable: %v", text, err)
		}
		if held, there := find(after, "d"); !there || string(held.raw) != `"x"` {
			t.Errorf("%q: got %q", text, held.raw)
		}
		for i, e := range before {
			if e.key != "d" && (after[i].key != e.key || string(after[i].raw) != string(e.raw)) {
				t.Errorf("%q: entry %q changed", text, e.key)
			}
		}
	})
}
