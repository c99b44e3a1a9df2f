package ceph

import (
	"errors"
	"strings"
	"testing"
)

func TestParseDeclared(t *testing.T) {
	const conf = "[global]\nfsid = C0FFEE00-0000-4000-8000-000000000001\nmon_host = 10.0.0.1\n"
	fsid, mons, err := ParseDeclaredMons(t.Context(), []byte(conf), nil)
	if err != nil || fsid != "c0ffee00-0000-4000-8000-000000000001" || len(mons) != 2 {
		t.Errorf("got %s, %v, %v", fsid, mons, err)
	}
	keyring := []byte("[client.a]\nkey = " + key(1) + "\n[client.b]\nkey = " + key(2) + "\n")
	user, err := ParseDeclaredUser(keyring, "client.b")
	if err != nil || user.UserID != "b" || user.Key.Reveal() != key(2) {
		t.Errorf("got %v, %v", user, err)
	}
	tests := map[string]struct {
		err   error
		entry string
		want  string
	}{
		"EmptyConf":    {err: second(ParseDeclaredMons(t.Context(), []byte(" \n"), nil)), entry: EntryConf, want: "is empty"},
		"NoMons":       {err: second(ParseDeclaredMons(t.Context(), []byte("[global]\n"), nil)), entry: EntryConf, want: "no mon_host"},
		"NoFSID":       {err: second(ParseDeclaredMons(t.Context(), []byte("fsid=x\nmon_host=10.0.0.1"), nil)), entry: EntryConf, want: "ceph fsid"},
		"EmptyKeyring": {err: of(ParseDeclaredUser(nil, "")), entry: EntryKeyring, want: "is empty"},
		"WhichUser":    {err: of(ParseDeclaredUser(keyring, "")), entry: EntryKeyring, want: "several users"},
		"NoSuchUser":   {err: of(ParseDeclaredUser(keyring, "c")), entry: EntryKeyring, want: "it has client.a, client.b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var fault *InputError
			if !errors.As(tc.err, &fault) || fault.Entry != tc.entry || !strings.Contains(fault.Text, tc.want) {
				t.Errorf("got %v, want one of %s with %q", tc.err, tc.entry, tc.want)
			}
		})
	}
}

func second(_ string, _ []Address, err error) error { return err }

func of(_ Credentials, err error) error { return err }
