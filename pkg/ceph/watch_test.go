package ceph

import (
	"encoding/binary"
	"reflect"
	"testing"
)

func TestParseWatchers(t *testing.T) {
	words := func(parts ...any) []byte {
		var out []byte
		for _, p := range parts {
			switch v := p.(type) {
			case uint32:
				out = binary.LittleEndian.AppendUint32(out, v)
			case uint64:
				out = binary.LittleEndian.AppendUint64(out, v)
			case string:
				out = append(out, v...)
			}
		}
		return out
	}
	both := words(uint32(1), uint64(4123), uint64(7), uint32(2), "me", uint32(1), uint64(4200), uint64(8))
	tests := map[string]struct {
		reason string
		reply  []byte
		want   []Watcher
		bad    bool
	}{
		"Nobody":  {"an object that nobody watches", words(uint32(0), uint32(0)), nil, false},
		"Both":    {"who answers and who does not", both, []Watcher{{Client: 4123, Answer: []byte("me")}, {Client: 4200, Silent: true}}, false},
		"Empty":   {"an answer without words is one", words(uint32(1), uint64(1), uint64(2), uint32(0), uint32(0)), []Watcher{{Client: 1, Answer: []byte{}}}, false},
		"Nothing": {"no answer is not: nobody", nil, nil, true},
		"Cut":     {"half an answer is none", both[:len(both)-1], nil, true},
		"Long":    {"a length that lies", words(uint32(1), uint64(1), uint64(2), uint32(1<<31), "x"), nil, true},
		"Many":    {"a number that lies", words(uint32(1<<31), uint64(1)), nil, true},
		"More":    {"bytes behind", append(both, 0), nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseWatchers(tc.reply)
			if (err != nil) != tc.bad || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s: got %+v, %v; want %+v", tc.reason, got, err, tc.want)
			}
		})
	}
}
