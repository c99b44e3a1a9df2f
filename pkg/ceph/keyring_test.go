package ceph

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// key makes a valid cephx key whose secret is filled with b.
func key(b byte) string { return cephxKey(1, 16, slices.Repeat([]byte{b}, 16)) }

func cephxKey(kind, length uint16, secret []byte) string {
	raw := binary.LittleEndian.AppendUint16(nil, kind)
	raw = append(raw, make([]byte, 8)...)
	raw = binary.LittleEndian.AppendUint16(raw, length)
	return base64.StdEncoding.EncodeToString(append(raw, secret...))
}

func TestParseKey(t *testing.T) {
	tests := map[string]struct {
		text string
		want string // of the error; empty means valid
	}{
		"Valid":         {key(1), ""},
		"Newline":       {key(1) + "\n", ""},
		"AES256":        {cephxKey(2, 32, make([]byte, 32)), ""},
		"Empty":         {" \n", "empty"},
		"NoPadding":     {strings.TrimRight(key(1), "="), "base64"},
		"CutOff":        {key(1)[:12], "cut off"},
		"CutInSecret":   {key(1)[:36], "not a cephx key"},
		"NotBase64":     {"!" + key(1)[1:], "base64"},
		"NewlineInside": {key(1)[:20] + "\n" + key(1)[20:], "base64"},
		"WrongType":     {cephxKey(7, 16, make([]byte, 16)), "not a cephx key"},
		"WrongLength":   {cephxKey(1, 15, make([]byte, 16)), "not a cephx key"},
		"TooLong":       {cephxKey(1, 16, make([]byte, 17)), "not a cephx key"},
		"OtherBase64":   {base64.StdEncoding.EncodeToString(make([]byte, 28)), "not a cephx key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseKey(test.text)
			if test.want == "" {
				if err != nil || got.Reveal() != strings.TrimSpace(test.text) {
					t.Errorf("got %q, %v", got.Reveal(), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestKeyring(t *testing.T) {
	k1, k2 := key(1), key(2)
	tests := map[string]struct {
		text   string
		wanted string
		user   string
		key    string
	}{
		"One":           {text: "[client.admin]\n\tkey = " + k1 + "\n", user: "admin", key: k1},
		"OneOther":      {text: "[client.csi.x-y_z]\nkey = " + k1 + "\n", user: "csi.x-y_z", key: k1},
		"Caps":          {text: "[client.admin]\nkey = " + k1 + "\ncaps mds = \"allow *\"\ncaps mon = \"allow *\"\n", user: "admin", key: k1},
		"Several":       {text: "[mon.]\nkey = " + k2 + "\n[client.x]\nkey = " + k2 + "\n[client.admin]\nkey = " + k1 + "\n", user: "admin", key: k1},
		"OthersBroken":  {text: "[client.x]\nkey = broken\n[client.admin]\nkey = " + k1 + "\n", user: "admin", key: k1},
		"Wanted":        {text: "[client.x]\nkey = " + k2 + "\n[client.admin]\nkey = " + k1 + "\n", wanted: "x", user: "x", key: k2},
		"OneClient":     {text: "[mds.a]\nkey = " + k2 + "\n[client.x]\nkey = " + k1 + "\n", user: "x", key: k1},
		"CRLF":          {text: "[client.admin]\r\nkey = " + k1 + "\r\n", user: "admin", key: k1},
		"NoBlanks":      {text: "[client.admin]\nkey=" + k1 + "\n", user: "admin", key: k1},
		"Quoted":        {text: "[client.admin]\nkey = \"" + k1 + "\"\n", user: "admin", key: k1},
		"Comments":      {text: "# mine\n[client.admin]\nkey = " + k1 + " # do not share\n", user: "admin", key: k1},
		"Duplicate":     {text: "[client.admin]\nkey = " + k2 + "\n[client.admin]\nkey = " + k1 + "\n", user: "admin", key: k1},
		"NoLastNewline": {text: "[client.admin]\nkey = " + k1, user: "admin", key: k1},
		"BOM":           {text: "\xef\xbb\xbf[client.admin]\nkey = " + k1 + "\n", user: "admin", key: k1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			entities, err := ParseKeyring([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := PickUser(entities, test.wanted)
			if err != nil {
				t.Fatal(err)
			}
			if got.UserID != test.user || got.Key.Reveal() != test.key {
				t.Errorf("got user %q, key %q, want %q, %q", got.UserID, got.Key.Reveal(), test.user, test.key)
			}
		})
	}
}

func TestKeyringErrors(t *testing.T) {
	k := key(1)
	tests := map[string]struct {
		text   string
		wanted string
		want   string
	}{
		"Empty":         {text: "", want: "no [client.<user>] section"},
		"AdminSection":  {text: "[admin]\nkey = " + k + "\n", want: "line 1: the section does not name a Ceph user; write [client.admin]"},
		"KeyAsSection":  {text: "[client." + k[:30] + "]\n", want: "line 1: the section does not name"},
		"JSON":          {text: `[{"entity":"client.admin","key":"` + k + `"}]`, want: "JSON"},
		"PlainKey":      {text: k + "\n", want: "line 1: text before the first section"},
		"CutPlainKey":   {text: k[:30] + "\n", want: "line 1: expected"},
		"NoKey":         {text: "[client.admin]\ncaps mon = \"allow *\"\n", want: "section [client.admin], line 1: the key is empty"},
		"BadBase64":     {text: "\n[client.admin]\nkey = A!" + k + "\n", want: "section [client.admin], line 2: the key is not valid base64"},
		"NoPadding":     {text: "[client.admin]\nkey = " + k[:38] + "\n", want: "not valid base64"},
		"NoClient":      {text: "[mon.]\nkey = " + k + "\n", want: "no [client.<user>] section"},
		"SeveralOthers": {text: "[client.a]\nkey = " + k + "\n[client.b]\nkey = " + k + "\n", want: "several users (client.a, client.b)"},
		"WantedMissing": {text: "[client.a]\nkey = " + k + "\n", wanted: "b", want: `no user "client.b"; it has client.a`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			entities, err := ParseKeyring([]byte(test.text))
			if err == nil {
				_, err = PickUser(entities, test.wanted)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want it to say %q", err, test.want)
			}
			if strings.Contains(err.Error(), k[:20]) {
				t.Errorf("the error shows the key: %q", err)
			}
		})
	}
}
