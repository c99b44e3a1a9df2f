package cephdaemons

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewKey(t *testing.T) {
	raw, err := base64.StdEncoding.DecodeString(newKey("aes", time.Unix(0x01020304, 5)))
	if err != nil {
		t.Fatal(err)
	}
	const header = "0100" + "04030201" + "05000000" + "1000"
	if got := hex.EncodeToString(raw[:12]); got != header || len(raw) != 28 {
		t.Errorf("header %s of %d bytes, want %s of 28", got, len(raw), header)
	}
	if one, other := newKey("aes", time.Unix(1, 0)), newKey("aes", time.Unix(1, 0)); one == other {
		t.Error("two keys are equal")
	}
}

func TestKeyring(t *testing.T) {
	e := newEntity("aes", "client.x", "osd", "allow rwx", "mon", "allow r")
	e.key = "KEY"
	want := "[client.x]\n\tkey = KEY\n\tcaps mon = \"allow r\"\n\tcaps osd = \"allow rwx\"\n"
	if diff := cmp.Diff(want, keyring(e)); diff != "" {
		t.Error(diff)
	}
}

func TestAdminConf(t *testing.T) {
	mons := []monAddress{{name: "a", host: "127.0.0.1", v2: 1, v1: 2}, {name: "b", host: "127.0.0.1", v2: 3, v1: 4}}
	want := "# minimal ceph.conf for F\n[global]\n\tfsid = F\n\tmon_host = [v2:127.0.0.1:1,v1:127.0.0.1:2],[v2:127.0.0.1:3,v1:127.0.0.1:4]\n"
	if diff := cmp.Diff(want, adminConf("F", mons)); diff != "" {
		t.Error(diff)
	}
}

func TestDaemonConfBindsLoopbackOnly(t *testing.T) {
	conf := daemonConf("F", nil, "127.0.0.1", "/dir", map[string]string{"osd class dir": "/classes"})
	for _, want := range []string{"public addr = 127.0.0.1", "cluster addr = 127.0.0.1", "ms bind ipv6 = false", "osd class dir = /classes"} {
		if !strings.Contains(conf, want) {
			t.Errorf("no %q in %s", want, conf)
		}
	}
}
