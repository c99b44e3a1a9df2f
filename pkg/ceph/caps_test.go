package ceph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGrants(t *testing.T) {
	got := Grants("profile rbd pool=b", "", "profile rbd pool=a", "profile rbd pool=b")
	if want := "profile rbd pool=a, profile rbd pool=b"; got != want {
		t.Errorf("each once, sorted: got %q, want %q", got, want)
	}
	if got := Grants(); got != "" {
		t.Errorf("no grants are no text: got %q", got)
	}
}

func TestCapName(t *testing.T) {
	tests := map[string]struct {
		reason, name, want string
	}{
		"Plain":       {"as everybody writes it", "infra-1_rbd.x/y", "infra-1_rbd.x/y"},
		"Blank":       {"would end the name", "a b", `"a b"`},
		"Comma":       {"would begin another grant", "a, allow *", `"a, allow *"`},
		"Quote":       {"the other quotes", `a"b`, `'a"b'`},
		"Apostrophe":  {"the other quotes", "a'b", `"a'b"`},
		"All":         {"would mean every filesystem", "all", `"all"`},
		"Star":        {"would mean every filesystem", "*", `"*"`},
		"Not ASCII":   {"Ceph takes it in quotes", "größe", `"größe"`},
		"Both quotes": {reason: "Ceph has no escapes", name: `a"b'c`},
		"Empty":       {reason: "no name"},
		"Newline":     {reason: "nobody means it", name: "a\nb"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := CapName(tc.name)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestCapsWith(t *testing.T) {
	tests := map[string]struct {
		reason    string
		a, b, out Caps
	}{
		"Union":    {"each service for itself", Caps{Mon: "allow r", OSD: "x, z"}, Caps{Mon: "allow r", OSD: "y", MDS: "m"}, Caps{Mon: "allow r", OSD: "x, y, z", MDS: "m"}},
		"Quoted":   {"a comma in quotes separates nothing", Caps{OSD: `a "b, c"; d 'e,f'`}, Caps{OSD: `a "b, c"`}, Caps{OSD: `a "b, c", d 'e,f'`}},
		"Nothing":  {"nothing becomes nothing", Caps{}, Caps{}, Caps{}},
		"Unclosed": {"stays in one piece", Caps{OSD: `a "b, c`}, Caps{OSD: "d"}, Caps{OSD: `a "b, c, d`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.out, tc.a.With(tc.b)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if again := tc.a.With(tc.b).With(tc.b); name != "Unclosed" && again != tc.a.With(tc.b) {
				t.Errorf("%s: a second time gives %s", tc.reason, again)
			}
		})
	}
}

func TestCapsAsArguments(t *testing.T) {
	caps := Caps{Mon: "profile rbd", OSD: `profile rbd pool='a"b'`}
	if diff := cmp.Diff([]string{"mon", "profile rbd", "osd", `profile rbd pool='a"b'`}, caps.Arguments()); diff != "" {
		t.Errorf("a service without grants is not named (-want +got):\n%s", diff)
	}
	if want := `mon 'profile rbd' osd 'profile rbd pool='\''a"b'\'''`; caps.String() != want {
		t.Errorf("for a shell: got %s, want %s", caps, want)
	}
}

func TestParseUserIDs(t *testing.T) {
	const key = "AQBq1XhmAAAAABAAVdfVzC5y7m0nkzVUR0mYgA=="
	tests := map[string]struct {
		reason, text string
		want         []string
		fails        bool
	}{
		"Complete": {reason: "as Ceph prints it, daemons left out", want: []string{"admin", "csi-x.y"},
			text: `{"auth_dump":[{"entity":"osd.0","key":"` + key + `","caps":{}},{"entity":"client.admin","key":"` + key + `"},{"entity":"client.csi-x.y"}]}`},
		"None":     {reason: "there is always an administrator: this is no list of users", text: `{"auth_dump":[]}`, fails: true},
		"Another":  {reason: "no list of users", text: `{"users":[]}`, fails: true},
		"Cut off":  {reason: "the key must not be quoted", text: `{"auth_dump":[{"entity":"client.a","key":"` + key, fails: true},
		"Not JSON": {reason: "the plain form", text: "client.a\n\tkey: " + key, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseUserIDs([]byte(tc.text))
			if (err != nil) != tc.fails || !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %s, %v", tc.reason, got, err)
			}
			if err != nil && strings.Contains(err.Error(), key[:20]) {
				t.Errorf("%s: the error shows the key: %v", tc.reason, err)
			}
		})
	}
}

func TestParseUser(t *testing.T) {
	const key = "AQBq1XhmAAAAABAAVdfVzC5y7m0nkzVUR0mYgA=="
	tests := map[string]struct {
		reason, text string
		want         Caps
		fails        bool
	}{
		"Complete":    {reason: "as Ceph prints it", text: `[{"entity":"client.csi-x.y","key":"` + key + `","caps":{"mgr":"a","mon":"b","osd":"c","mds":"d"}}]`, want: Caps{Mgr: "a", Mon: "b", OSD: "c", MDS: "d"}},
		"Without":     {reason: "no caps at all", text: `[{"entity":"client.csi-x.y","key":"` + key + `","caps":{}}]`},
		"Not JSON":    {reason: "a plain keyring", text: "[client.csi-x.y]\n\tkey = " + key, fails: true},
		"Cut off":     {reason: "the key must not be quoted", text: `[{"entity":"client.csi-x.y","key":"` + key, fails: true},
		"Wrong type":  {reason: "the key must not be quoted", text: `[{"entity":"client.csi-x.y","key":["` + key + `"]}]`, fails: true},
		"Several":     {reason: "whose key is it?", text: `[{"entity":"client.a","key":"` + key + `"},{"entity":"client.b","key":"` + key + `"}]`, fails: true},
		"None":        {reason: "nothing", text: `[]`, fails: true},
		"Daemon":      {reason: "not asked for", text: `[{"entity":"osd.0","key":"` + key + `"}]`, fails: true},
		"Damaged key": {reason: "would stop the driver", text: `[{"entity":"client.csi-x.y","key":"` + key[:30] + `"}]`, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseUser([]byte(tc.text))
			if (err != nil) != tc.fails || got.Caps != tc.want {
				t.Fatalf("%s: got %s, %v", tc.reason, got.Caps, err)
			}
			if err != nil && strings.Contains(err.Error(), key[:20]) {
				t.Errorf("%s: the error shows the key: %v", tc.reason, err)
			}
			if err == nil && (got.Entity() != "client.csi-x.y" || got.Key.Reveal() != key) {
				t.Errorf("%s: got user %s", tc.reason, got.Entity())
			}
		})
	}
}
