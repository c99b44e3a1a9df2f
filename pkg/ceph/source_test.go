package ceph

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	fsidA = "4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11"
	fsidB = "5e06f5e7-4b20-40dc-9c1b-1c7e201d3b22"
)

func entries(pairs ...string) map[string][]byte {
	data := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = []byte(pairs[i+1])
	}
	return data
}

func TestParseSource(t *testing.T) {
	conf := "[global]\nfsid = " + fsidA + "\nmon_host = 10.0.0.1:6789\n"
	confNoFSID := "[global]\nmon_host = 10.0.0.1:6789\n"
	keyring := "[client.admin]\nkey = " + key(1) + "\n"
	two := keyring + "[client.csi]\nkey = " + key(2) + "\n"
	tests := map[string]struct {
		data map[string][]byte
		want string // fsid, user, first byte of the key's secret, mons
	}{
		"Files":           {entries("ceph.conf", conf, "keyring", keyring), fsidA + " admin 1 v1:10.0.0.1:6789"},
		"FilesNoFSID":     {entries("ceph.conf", confNoFSID, "keyring", keyring), " admin 1 v1:10.0.0.1:6789"},
		"FilesUpperFSID":  {entries("ceph.conf", strings.ToUpper(fsidA)+" = x\nfsid = "+strings.ToUpper(fsidA)+"\nmon_host = 10.0.0.1:6789", "keyring", keyring), fsidA + " admin 1 v1:10.0.0.1:6789"},
		"Values":          {entries("fsid", fsidA+"\n", "monitors", "10.0.0.1:6789,10.0.0.2:3300\n", "userID", "csi\n", "userKey", key(2)+"\n"), fsidA + " csi 2 v1:10.0.0.1:6789,v2:10.0.0.2:3300"},
		"ClientPrefix":    {entries("fsid", fsidA, "monitors", "10.0.0.1:6789", "userID", "client.csi", "userKey", key(2)), fsidA + " csi 2 v1:10.0.0.1:6789"},
		"ConfAndUser":     {entries("ceph.conf", conf, "userID", "csi", "userKey", key(2)), fsidA + " csi 2 v1:10.0.0.1:6789"},
		"MonsAndKeyring":  {entries("fsid", fsidB, "monitors", "10.0.0.1:6789", "keyring", keyring), fsidB + " admin 1 v1:10.0.0.1:6789"},
		"UserIDChooses":   {entries("ceph.conf", conf, "keyring", two, "userID", "csi"), fsidA + " csi 2 v1:10.0.0.1:6789"},
		"FSIDBesideConf":  {entries("ceph.conf", confNoFSID, "keyring", keyring, "fsid", fsidB), fsidB + " admin 1 v1:10.0.0.1:6789"},
		"SameFSIDTwice":   {entries("ceph.conf", conf, "keyring", keyring, "fsid", fsidA), fsidA + " admin 1 v1:10.0.0.1:6789"},
		"ForeignIgnored":  {entries("ceph.conf", conf, "keyring", keyring, "other", "x"), fsidA + " admin 1 v1:10.0.0.1:6789"},
		"SeveralSections": {entries("ceph.conf", conf, "keyring", two), fsidA + " admin 1 v1:10.0.0.1:6789"},
	}
	secrets := map[string]string{key(1): "1", key(2): "2"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSource(t.Context(), test.data, hosts(nil))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%s %s %s %s", got.FSID, got.UserID, secrets[got.Key.Reveal()], MonHost(got.Monitors))
			if diff := cmp.Diff(test.want, text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseSourceErrors(t *testing.T) {
	conf, keyring := "[global]\nmon_host = 10.0.0.1:6789\n", "[client.admin]\nkey = "+key(1)+"\n"
	with := func(pairs ...string) map[string][]byte {
		data := entries("fsid", fsidA, "monitors", "10.0.0.1:6789", "userID", "csi", "userKey", key(1))
		for name, value := range entries(pairs...) {
			data[name] = value
			if len(value) == 0 {
				delete(data, name)
			}
		}
		return data
	}
	tests := map[string]struct {
		data   map[string][]byte
		entry  string
		reason error
		want   string
	}{
		"Nil":             {nil, "", ErrNothingGiven, "none of ceph.conf and keyring"},
		"ForeignOnly":     {entries("ceph.config", "x", "ceph.client.admin.keyring", "y", "d", "", "e", ""), "", ErrNothingGiven, "is there, only ceph.client.admin.keyring, ceph.config, d; give files as ceph.conf=FILE and keyring=FILE"},
		"NoKeyring":       {entries("ceph.conf", conf), "keyring", ErrEntryMissing, "keyring is missing; give the file /etc/ceph/"},
		"NoConf":          {entries("keyring", keyring), "ceph.conf", ErrEntryMissing, "ceph.conf is missing; give"},
		"NoMonitors":      {with("monitors", ""), "monitors", ErrEntryMissing, "monitors is missing; give the addresses of all mons"},
		"NoFSID":          {with("fsid", ""), "fsid", ErrEntryMissing, "`ceph fsid`"},
		"NoUserID":        {with("userID", ""), "userID", ErrEntryMissing, "userID is missing"},
		"NoUserKey":       {with("userKey", ""), "userKey", ErrEntryMissing, "userKey is missing"},
		"EmptyConf":       {entries("ceph.conf", "\n", "keyring", keyring), "ceph.conf", ErrEntryEmpty, "ceph.conf is empty; give"},
		"EmptyKeyring":    {entries("ceph.conf", conf, "keyring", ""), "keyring", ErrEntryEmpty, "keyring is empty"},
		"BadConf":         {entries("ceph.conf", "[global]\nfoo\n", "keyring", keyring), "ceph.conf", ErrEntryInvalid, "ceph.conf: line 2: expected"},
		"BadConfFSID":     {entries("ceph.conf", "fsid = {uuid}\n"+conf, "keyring", keyring), "ceph.conf", ErrEntryInvalid, `ceph.conf: fsid "{uuid}" is not a Ceph cluster ID`},
		"BadKeyring":      {entries("ceph.conf", conf, "keyring", "[admin]\n"), "keyring", ErrEntryInvalid, "keyring: line 1:"},
		"BadKey":          {entries("ceph.conf", conf, "keyring", "[client.admin]\nkey = x\n"), "keyring", ErrEntryInvalid, "keyring: section [client.admin], line 1: the key is not valid base64"},
		"BadUserKey":      {with("userKey", key(1)[:30]), "userKey", ErrEntryInvalid, "userKey: the key is not valid base64"},
		"BadUserID":       {with("userID", "a b"), "userID", ErrEntryInvalid, `userID: "a b" is not the name`},
		"KeyAsUserID":     {with("userID", key(1)), "userID", ErrEntryInvalid, "not shown"},
		"KeyAsFSID":       {with("fsid", key(1)), "fsid", ErrEntryInvalid, "not shown"},
		"KeyAsMonitors":   {with("monitors", key(1)), "monitors", ErrEntryInvalid, "not shown"},
		"BadFSID":         {with("fsid", "ceph"), "fsid", ErrEntryInvalid, `fsid: fsid "ceph" is not`},
		"BadMonitors":     {with("monitors", "10.0.0.1:x"), "monitors", ErrEntryInvalid, `monitors: mon address "10.0.0.1:x"`},
		"Unresolved":      {with("monitors", "mon.example"), "monitors", ErrUnresolved, "mon.example: no such host"},
		"UnresolvedConf":  {entries("ceph.conf", "mon_host = mon.example", "keyring", keyring), "ceph.conf", ErrUnresolved, "mon.example"},
		"Swapped":         {entries("ceph.conf", keyring, "keyring", conf), "keyring", ErrEntryInvalid, "keyring: line 1"},
		"BothMons":        {with("ceph.conf", conf), "monitors", ErrEntriesConflict, "ceph.conf and monitors are both there; remove one"},
		"BothUsers":       {with("keyring", keyring), "userKey", ErrEntriesConflict, "keyring and userKey are both there; remove one"},
		"FSIDsDiffer":     {entries("ceph.conf", "fsid = "+fsidA+"\n"+conf, "keyring", keyring, "fsid", fsidB), "fsid", ErrEntriesConflict, "ceph.conf says " + fsidA},
		"UserIDNotInRing": {entries("ceph.conf", conf, "keyring", keyring, "userID", "csi"), "keyring", ErrEntryInvalid, `no user "client.csi"; it has client.admin`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSource(t.Context(), test.data, hosts(nil))
			var input *InputError
			if !errors.As(err, &input) || input.Entry != test.entry || !errors.Is(err, test.reason) {
				t.Fatalf("got %#v, want entry %q, reason %q", err, test.entry, test.reason)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), key(1)[:20]) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
		})
	}
}
