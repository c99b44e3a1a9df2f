package ceph

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConf(t *testing.T) {
	const host, other = "10.0.0.1:6789", "10.0.0.2:6789"
	tests := map[string]struct {
		text string
		want Conf
	}{
		"Underscore":         {"[global]\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"Blank":              {"[global]\nmon host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"ManyBlanks":         {"[global]\nmon  _ host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"NoBlanks":           {"[global]\nmon_host=10.0.0.1:6789\n", Conf{MonHost: host}},
		"Quoted":             {"[global]\nmon_host = \"10.0.0.1:6789\"\n", Conf{MonHost: host}},
		"SingleQuoted":       {"[global]\nmon_host = '10.0.0.1:6789' # x\n", Conf{MonHost: host}},
		"QuotedHash":         {"[global]\nmon_host = \"10.0.0.1 #x\"\n", Conf{MonHost: "10.0.0.1 #x"}},
		"Semicolons":         {"[global]\nmon_host = 10.0.0.1;10.0.0.2\n", Conf{MonHost: "10.0.0.1;10.0.0.2"}},
		"Vector":             {"[global]\nmon_host = [v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]\n", Conf{MonHost: "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]"}},
		"NoLastNewline":      {"[global]\nmon_host = 10.0.0.1:6789", Conf{MonHost: host}},
		"BOM":                {"\xef\xbb\xbf[global]\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"CRLF":               {"[global]\r\nmon_host = 10.0.0.1:6789\r\nfsid = x\r\n", Conf{MonHost: host, FSID: "x"}},
		"TabIndent":          {"[global]\n\tmon_host\t=\t10.0.0.1:6789\n", Conf{MonHost: host}},
		"CommentLines":       {"# a\n; b\n[global] # c\n  # d = e\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"CommentHash":        {"[global]\nmon_host = 10.0.0.1:6789 # mon a\n", Conf{MonHost: host}},
		"CommentHashNoBlank": {"[global]\nmon_host = 10.0.0.1:6789# mon a\n", Conf{MonHost: host}},
		"CommentSemicolon":   {"[global]\nmon_host = 10.0.0.1:6789 ; mon a\n", Conf{MonHost: host}},
		"CommentBackslash":   {"[global]\n# a \\\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"Continuation":       {"[global]\nmon_host = 10.0.0.1:6789, \\\n  10.0.0.2:6789\n", Conf{MonHost: "10.0.0.1:6789, 10.0.0.2:6789"}},
		"ContinuationCRLF":   {"[global]\r\nmon_host = 10.0.0.1:6789,\\\r\n10.0.0.2:6789\r\n", Conf{MonHost: "10.0.0.1:6789,10.0.0.2:6789"}},
		"BackslashAtEnd":     {"[global]\nmon_host = 10.0.0.1:6789\\", Conf{MonHost: host + `\`}},
		"DuplicateKey":       {"[global]\nmon_host = 10.0.0.2:6789\nmon host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"RepeatedGlobal":     {"[global]\nmon_host = 10.0.0.1:6789\n[mds]\na = b\n[global]\nfsid = x\n", Conf{MonHost: host, FSID: "x"}},
		"BeforeAnySection":   {"mon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"Client":             {"[client]\nmon_host = 10.0.0.1:6789\n[global]\nmon_host = 10.0.0.2:6789\n", Conf{MonHost: host}},
		"ClientAdmin":        {"[client.admin]\nmon_host = 10.0.0.1:6789\nkey = x\n[client]\nmon_host = 10.0.0.2:6789\n", Conf{MonHost: host}},
		"MonSections":        {"[mon.a]\nmon addr = 10.0.0.1:6789\n[mon.b]\nmon_addr = 10.0.0.2:6789\n", Conf{MonHost: host + "," + other}},
		"MonHostOverMonAddr": {"[mon.a]\nmon addr = 10.0.0.2:6789\n[global]\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"MonHostInMon":       {"[mon]\nmon_host = 10.0.0.2:6789\n[global]\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"UnknownOptions":     {"[global]\nfrob nicate = yes\nlog file = /x\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host}},
		"MalformedFSID":      {"[global]\nfsid = {uuid}\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host, FSID: "{uuid}"}},
		"Escape":             {"[global]\nfsid = a\\#b\nmon_host = 10.0.0.1:6789\n", Conf{MonHost: host, FSID: "a#b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseConf([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseConfErrors(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"Empty":        {"", "no mon_host in section [global]; add"},
		"Dash":         {"[global]\nmon-host = 10.0.0.1\n", "spelling in line 2"},
		"UpperCase":    {"[global]\nMON_HOST = 10.0.0.1\n", "spelling in line 2"},
		"InMon":        {"[global]\n\n[mon]\nmon_host = 10.0.0.1\n", "line 4 has it in a section that clients do not read"},
		"PublicAddr":   {"[mon.a]\npublic addr = 10.0.0.1\n", `"public addr", line 2`},
		"NoValue":      {"[global]\nmon_host =\n", "line 2 has it without a value"},
		"Keyring":      {"[client.admin]\nkey = " + key(1) + "\n", "is this the keyring?"},
		"UTF16":        {"\xff\xfe[\x00g\x00", "save it as UTF-8"},
		"Binary":       {"[global]\n\x00\n", "save it as UTF-8"},
		"JSON":         {"{\"mon_host\": \"10.0.0.1\"}", "JSON"},
		"NoEquals":     {"[global]\nmon_host 10.0.0.1\n", "line 2: expected"},
		"NoName":       {"[global]\n= 10.0.0.1\n", "line 2: expected"},
		"OpenSection":  {"\n[global\nmon_host = 10.0.0.1\n", "line 2: a section"},
		"AfterSection": {"[global] mon_host = 10.0.0.1\n", "line 1: a section"},
		"BareKey":      {key(1) + "\n", "no mon_host"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseConf([]byte(test.text))
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
			if strings.Contains(err.Error(), key(1)) {
				t.Errorf("the error shows the key: %q", err)
			}
		})
	}
}
