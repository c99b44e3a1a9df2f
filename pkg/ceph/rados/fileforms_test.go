//go:build cgo

package rados

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// confForms are ceph.conf files that administrators have; MONS is the vector of a mon, V1 and
// V2 are its addresses, F is the fsid. Some of them abort a process that hands them to librados.
var confForms = map[string]string{
	"Minimal":        "# minimal ceph.conf for F\n[global]\n\tfsid = F\n\tmon_host = MONS\n",
	"Blank":          "[global]\nmon host = MONS\n",
	"NoSpaces":       "[global]\nfsid=F\nmon_host=MONS\n",
	"Quoted":         "[global]\nmon_host = \"MONS\"\n",
	"Comma":          "[global]\nmon_host = V1,V2\n",
	"CommaSpace":     "[global]\nmon_host = V1, V2\n",
	"Space":          "[global]\nmon_host = V1 V2\n",
	"Semicolon":      "[global]\nmon_host = V1;V2\n",
	"TrailingComma":  "[global]\nmon_host = V2,\n",
	"LeadingComma":   "[global]\nmon_host = ,V2\n",
	"Tab":            "[global]\nmon_host = V1\tV2\n",
	"Nonce":          "[global]\nmon_host = V2/0\n",
	"VectorTwice":    "[global]\nmon_host = MONS,MONS\n",
	"MonSections":    "[mon.a]\nmon addr = V2\n[mon.b]\nmon_addr = V1\n",
	"Client":         "[client]\nmon_host = MONS\n",
	"ClientAdmin":    "[client.admin]\nmon_host = MONS\nkey = x\n",
	"BeforeSection":  "mon_host = MONS\n",
	"Comments":       "# a\n; b\n[global] # c\nmon_host = MONS # d\n",
	"CRLF":           "[global]\r\nfsid = F\r\nmon_host = MONS\r\n",
	"Indent":         "[global]\n\t\tmon_host\t=\tMONS\n",
	"Continuation":   "[global]\nmon_host = V1,\\\n  V2\n",
	"Duplicate":      "[global]\nmon_host = 127.0.0.1:9\nmon_host = MONS\n",
	"RepeatedGlobal": "[global]\nfsid = F\n[mds]\nx = y\n[global]\nmon_host = MONS\n",
	"Unknown":        "[global]\nfrobnicate = yes\nmon_host = MONS\n",
	"BOM":            "\xef\xbb\xbf[global]\nmon_host = MONS\n",
	"NoLastNewline":  "[global]\nmon_host = MONS",
	"SideEffects":    "[global]\nmon_host = MONS\nlog file = /nowhere/x\nadmin socket = /nowhere/y\nlog to stderr = true\ndebug ms = 20\n",
	"Unresolved":     "[global]\nmon_host = no-such-mon.invalid,MONS\n",
}

// wrongConfs must be refused, before librados hears of them.
var wrongConfs = map[string]string{
	"Empty": "", "Dash": "[global]\nmon-host = MONS\n", "UpperCase": "[global]\nMON_HOST = MONS\n", "InMon": "[mon]\nmon_host = MONS\n",
	"PublicAddr": "[mon.a]\npublic addr = V1\n", "MalformedFSID": "[global]\nfsid = {uuid}\nmon_host = MONS\n", "Binary": "\x00\x01\x02",
	"UTF16": "\xff\xfe[\x00g\x00", "JSON": "{\"mon_host\":\"MONS\"}", "Unbalanced": "[global]\nmon_host = [MONS\n",
}

// keyringForms are keyrings; KEY is the user's key, OTHER one that Ceph does not know.
var keyringForms = map[string]string{
	"Caps":          "[client.admin]\n\tkey = KEY\n\tcaps mds = \"allow *\"\n\tcaps mon = \"allow *\"\n",
	"Several":       "[mon.]\n\tkey = OTHER\n[client.x]\n\tkey = OTHER\n[client.admin]\n\tkey = KEY\n",
	"CRLF":          "[client.admin]\r\nkey = KEY\r\n",
	"NoSpaces":      "[client.admin]\nkey=KEY\n",
	"Quoted":        "[client.admin]\nkey = \"KEY\"\n",
	"Comments":      "# mine\n[client.admin]\nkey = KEY # x\n",
	"Duplicate":     "[client.admin]\nkey = OTHER\n[client.admin]\nkey = KEY\n",
	"NoLastNewline": "[client.admin]\nkey = KEY",
	"BOM":           "\xef\xbb\xbf[client.admin]\nkey = KEY\n",
}

var wrongKeyrings = map[string]string{
	"Empty": "", "AdminSection": "[admin]\nkey = KEY\n", "JSON": "[{\"entity\":\"client.admin\",\"key\":\"KEY\"}]", "Plain": "KEY\n",
	"BadBase64": "[client.admin]\nkey = !KEY\n", "NoKey": "[client.admin]\n", "CutOff": "[client.admin]\nkey = CUT\n", "NoClient": "[mon.]\nkey = KEY\n",
}

// testFileForms declares a real Ceph by each of the files. Nothing may reach stderr.
func testFileForms(t *testing.T, c *cephdaemons.Ceph) {
	vector := c.MonHost("a")
	v2, v1, _ := strings.Cut(strings.Trim(vector, "[]"), ",")
	key := source(t, c).Key.Reveal()
	fill := strings.NewReplacer("MONS", vector, "V1", v1, "V2", v2, "F\n", c.FSID()+"\n", "F\r", c.FSID()+"\r",
		"KEY", key, "OTHER", wrongKey().Reveal(), "CUT", key[:22])
	const conf, keyring = "[global]\nmon_host = MONS\n", "[client.admin]\nkey = KEY\n"
	try := func(conf, keyring string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := ceph.ParseSource(ctx, map[string][]byte{
			ceph.EntryConf: []byte(fill.Replace(conf)), ceph.EntryKeyring: []byte(fill.Replace(keyring)),
		}, lookUp)
		if err != nil {
			return err
		}
		conn, err := Dial(ctx, s, quick)
		if err == nil {
			conn.Close()
		}
		return err
	}
	text := stderr(t, func() {
		for name, form := range confForms {
			if err := try(form, keyring); err != nil {
				t.Errorf("ceph.conf %s: %v", name, err)
			}
		}
		for name, form := range keyringForms {
			if err := try(conf, form); err != nil {
				t.Errorf("keyring %s: %v", name, err)
			}
		}
		wrong := func(what string, err error) {
			var input *ceph.InputError
			if !errors.As(err, &input) || strings.Contains(err.Error(), key[:20]) {
				t.Errorf("%s: got %v, want an InputError without the key", what, err)
			}
		}
		for name, form := range wrongConfs {
			wrong("ceph.conf "+name, try(form, keyring))
		}
		for name, form := range wrongKeyrings {
			wrong("keyring "+name, try(conf, form))
		}
	})
	if text != "" {
		t.Errorf("stderr has %q", text)
	}
}
