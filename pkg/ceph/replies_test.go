package ceph

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// monDump is shortened from what Ceph 16.2.15 printed.
const monDump = `{"epoch":11,"fsid":"` + fsidA + `","modified":"2024-11-20T11:43:02.004852Z",
"disallowed_leaders: ":"","removed_ranks: ":"","features":{"persistent":["kraken"]},"mons":[
{"rank":0,"name":"d","public_addrs":{"addrvec":[{"type":"v2","addr":"10.0.0.4:3300","nonce":0},{"type":"v1","addr":"10.0.0.4:6789","nonce":0}]},"addr":"10.0.0.4:6789/0"},
{"rank":1,"name":"b","public_addrs":{"addrvec":[{"type":"v2","addr":"[fd00::2]:3300","nonce":0}]},"addr":"[fd00::2]:3300/0"},
{"rank":2,"name":"c","public_addrs":{"addrvec":[{"type":"v1","addr":"10.0.0.3:6789","nonce":0}]},"addr":"10.0.0.3:6789/0"}],
"quorum":[0,1]}`

func TestParseMonDump(t *testing.T) {
	got, err := ParseMonDump([]byte(monDump))
	if err != nil {
		t.Fatal(err)
	}
	want := MonMap{FSID: fsidA, Epoch: 11, Mons: []Mon{
		{Name: "b", Addrs: []Address{{V2, "fd00::2", 3300}}},
		{Name: "c", Addrs: []Address{{V1, "10.0.0.3", 6789}}},
		{Name: "d", Addrs: []Address{{V2, "10.0.0.4", 3300}, {V1, "10.0.0.4", 6789}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	monitors := []string{"10.0.0.3:6789", "10.0.0.4:6789", "[fd00::2]:3300"}
	if diff := cmp.Diff(monitors, got.Monitors()); diff != "" {
		t.Errorf("one address of each mon, v1 where there is one (-want +got)\n%s", diff)
	}
	host := "v2:[fd00::2]:3300,v1:10.0.0.3:6789,v2:10.0.0.4:3300"
	if diff := cmp.Diff(host, MonHost(got.MonHost())); diff != "" {
		t.Errorf("one address of each mon, v2 where there is one (-want +got)\n%s", diff)
	}
}

// TestParseMonDumpNeverJoined: mon_initial_members puts mons into the map before anybody knows where they are.
func TestParseMonDumpNeverJoined(t *testing.T) {
	const c = `{"type":"v1","addr":"10.0.0.3:6789","nonce":0}`
	joined := []string{"10.0.0.3:6789", "10.0.0.4:6789", "[fd00::2]:3300"}
	others := []string{"10.0.0.4:6789", "[fd00::2]:3300"}
	tests := map[string]struct {
		reason string
		// addresses are those of mon c.
		addresses string
		want      []string
	}{
		"Joined":      {"it has an address", c, joined},
		"Never":       {"as Ceph writes it", `{"type":"v1","addr":"0.0.0.0:0","nonce":1}`, others},
		"NeverIPv6":   {"on IPv6 alone", `{"type":"v2","addr":"[::]:0","nonce":1}`, others},
		"NoPort":      {"nothing listens at port 0", `{"type":"v2","addr":"10.0.0.3:0","nonce":7}`, others},
		"Nowhere":     {"it is no host, whatever the port", `{"type":"v1","addr":"0.0.0.0:6789","nonce":0}`, others},
		"Mapped":      {"it is the same", `{"type":"v1","addr":"[::ffff:0.0.0.0]:6789","nonce":0}`, others},
		"None":        {"so blank addresses print", `{"type":"none","addr":"(unrecognized address family 0)","nonce":0}`, others},
		"BothNever":   {"all of them count", `{"type":"v2","addr":"0.0.0.0:0","nonce":1},{"type":"v1","addr":"0.0.0.0:0","nonce":1}`, others},
		"OneIsEnough": {"it joined with that", `{"type":"v2","addr":"0.0.0.0:0","nonce":1},` + c, joined},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMonDump([]byte(strings.Replace(monDump, c, tc.addresses, 1)))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.Monitors()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if len(got.MonHost()) != len(tc.want) {
				t.Errorf("%s: our own clients get %v", tc.reason, got.MonHost())
			}
			if want := len(tc.want) == len(others); (len(got.NeverJoined) == 1) != want {
				t.Errorf("%s: never joined: %q", tc.reason, got.NeverJoined)
			}
		})
	}
}

// TestParseMonDumpNoneJoined: a map without any address must never reach a consumer.
func TestParseMonDumpNoneJoined(t *testing.T) {
	nowhere := regexp.MustCompile(`"addr":"[^"/]*"`).ReplaceAllString(monDump, `"addr":"0.0.0.0:0"`)
	_, err := ParseMonDump([]byte(nowhere))
	if err == nil || !strings.Contains(err.Error(), "none of the mons b, c, d has an address") {
		t.Errorf("got %v", err)
	}
}

func TestParseMonDumpKeyTypes(t *testing.T) {
	// From what Ceph 20.2.4 printed after an upgrade.
	const ciphers = `"auth_service_cipher":{"name":"aes","value":1},"auth_allowed_ciphers":[{"name":"aes","value":1},{"name":"aes256k","value":2}],"auth_preferred_cipher":{"name":"aes","value":1},`
	tests := map[string]struct {
		reason, dump string
		want         KeyTypes
		aes, aes256  bool
	}{
		"Old":      {reason: "Ceph before 20.2.4", dump: monDump, aes: true},
		"Upgraded": {reason: "both", dump: strings.Replace(monDump, "{", "{"+ciphers, 1), want: KeyTypes{Allowed: []KeyType{AES, AES256}, Preferred: AES}, aes: true, aes256: true},
		"New": {
			reason: "made with Ceph 20.2.4", aes256: true,
			dump: strings.Replace(monDump, "{", `{"auth_allowed_ciphers":[{"name":"aes256k","value":2}],"auth_preferred_cipher":{"name":"aes256k","value":2},`, 1),
			want: KeyTypes{Allowed: []KeyType{AES256}, Preferred: AES256},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMonDump([]byte(tc.dump))
			if diff := cmp.Diff(tc.want, got.Keys); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got)\n%s", tc.reason, err, diff)
			}
			if got.Keys.Allows(AES) != tc.aes || got.Keys.Allows(AES256) != tc.aes256 {
				t.Errorf("%s: %+v allows the wrong ones", tc.reason, got.Keys)
			}
		})
	}
}

func TestParseMonDumpErrors(t *testing.T) {
	tests := map[string]struct{ from, to, want string }{
		"NotJSON":   {monDump, "x", "reading the monmap"},
		"NoFSID":    {fsidA, "", "incomplete"},
		"ZeroFSID":  {fsidA, "x", "incomplete"},
		"NoEpoch":   {`"epoch":11`, `"epoch":0`, "incomplete"},
		"NoMons":    {`"mons"`, `"x"`, "incomplete"},
		"NoAddress": {`[{"type":"v1","addr":"10.0.0.3:6789","nonce":0}]`, `[]`, `mon "c": it has no address`},
		"Address":   {"10.0.0.3:6789\",\"nonce", "x\",\"nonce", `mon "c": address`},
		"Type":      {`"type":"v1","addr":"10.0.0.3:6789"`, `"type":"v9","addr":"10.0.0.3:6789"`, `unknown protocol "v9"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMonDump([]byte(strings.Replace(monDump, test.from, test.to, 1)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want an error that says %q", got, err, test.want)
			}
		})
	}
}

func TestParsePools(t *testing.T) {
	got, err := ParsePools([]byte(`[
{"pool_id":1,"pool_name":"device_health_metrics","flags_names":"hashpspool","type":1,"application_metadata":{"mgr_devicehealth":{}}},
{"pool_id":2,"pool_name":"ec","flags_names":"hashpspool,ec_overwrites,nodelete,full,full_quota","type":3,"application_metadata":{"rbd":{"k":"v"},"cephfs":{"data":"f"}}},
{"pool_id":3,"pool_name":"new","flags_names":"hashpspool,creating","type":1,"application_metadata":{}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Pool{
		{ID: 1, Name: "device_health_metrics", Applications: []string{"mgr_devicehealth"}},
		{ID: 2, Name: "ec", Applications: []string{"cephfs", "rbd"}, ErasureCoded: true, Overwrites: true, NoDelete: true, Full: true,
			Metadata: map[string]map[string]string{"rbd": {"k": "v"}, "cephfs": {"data": "f"}}},
		{ID: 3, Name: "new"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseFileSystems(t *testing.T) {
	tests := map[string]struct {
		reason string
		// states are those of the MDS of each rank; empty where none holds it.
		states []string
		want   bool
	}{
		"Active":     {"every rank has an MDS", []string{"up:active", "up:active"}, true},
		"Failed":     {"what is in the part of rank 1 hangs", []string{"up:active", ""}, false},
		"Recovering": {"it serves nobody yet", []string{"up:active", "up:replay"}, false},
		"Stopping":   {"it serves its part until others have taken that", []string{"up:active", "up:stopping"}, true},
		"Down":       {"the last one goes", []string{"up:stopping"}, false},
		"Rank1":      {"the volumes module begins at rank 0", []string{"", "up:active"}, false},
		"Starting":   {"it serves nobody yet", []string{"up:rejoin"}, false},
		"None":       {"none has ever been", nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, up := []int{}, map[string]int64{}
			type mds struct {
				Rank  int    `json:"rank"`
				State string `json:"state"`
			}
			info := map[string]mds{"gid_9": {1, "up:standby-replay"}}
			var ranks []Rank
			for rank, state := range test.states {
				in = append([]int{rank}, in...)
				ranks = append(ranks, Rank{Number: rank})
				if gid := int64(4 + rank); state != "" {
					up[fmt.Sprintf("mds_%d", rank)], info[fmt.Sprintf("gid_%d", gid)], ranks[rank].MDS = gid, mds{rank, state}, gid
				}
			}
			data, err := json.Marshal(map[string]any{"epoch": 9, "default_fscid": 3, "standbys": []any{}, "filesystems": []any{map[string]any{
				"id": 3, "mdsmap": map[string]any{"fs_name": "f", "metadata_pool": 4, "data_pools": []int{5, 6}, "in": in, "up": up, "info": info},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseFileSystems(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]FileSystem{{ID: 3, Name: "f", Active: test.want, Ranks: ranks, Default: true, MetadataPool: 4, DataPools: []int64{5, 6}}}, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}

func TestSmallReplies(t *testing.T) {
	groups, err := ParseSubvolumeGroups([]byte(`[{"name":"csi"},{"name":"other"}]`))
	if err != nil || !cmp.Equal(groups, []string{"csi", "other"}) {
		t.Errorf("groups: %v, %v", groups, err)
	}
	version, err := ParseVersion([]byte(`{"version":"ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)"}`))
	if err != nil || version != "16.2.15" {
		t.Errorf("version: %q, %v", version, err)
	}
	for name, parse := range map[string]func([]byte) error{
		"pools":       func(b []byte) error { _, err := ParsePools(b); return err },
		"filesystems": func(b []byte) error { _, err := ParseFileSystems(b); return err },
		"groups":      func(b []byte) error { _, err := ParseSubvolumeGroups(b); return err },
		"version":     func(b []byte) error { _, err := ParseVersion(b); return err },
	} {
		for _, garbage := range []string{"", "x", `"x"`, `{"version":"x"}x`} {
			if parse([]byte(garbage)) == nil {
				t.Errorf("%s: %q gives no error", name, garbage)
			}
		}
	}
	if _, err := ParseVersion([]byte(`{"version":"16"}`)); err == nil {
		t.Error("version of another form gives no error")
	}
}

func TestCheckPoolName(t *testing.T) {
	for _, good := range []string{"rbd", "ocp-x7k2-rbd", ".mgr"[1:], "A.b_c-1", strings.Repeat("a", 128)} {
		if err := CheckPoolName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a b", "a/b", ".mgr", "a,b", strings.Repeat("a", 129), "ä"} {
		if CheckPoolName(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestCommandError(t *testing.T) {
	tests := map[string]struct {
		errno int
		is    error
	}{
		"MonTimeout":  {-110, ErrTimeout},
		"MgrTimeout":  {110, ErrTimeout},
		"NoCaps":      {-13, ErrDenied},
		"Forbidden":   {-1, ErrDenied},
		"NoSuchThing": {-2, ErrNotFound},
		"Invalid":     {-22, nil},
		"Unsupported": {-95, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := fmt.Errorf("creating pool %q: %w", "p", &CommandError{Command: "osd pool create", Errno: test.errno, Status: "sorry"})
			for _, sentinel := range []error{ErrTimeout, ErrDenied, ErrNotFound, ErrNotLoaded, ErrUnreachable, ErrWrongKey} {
				if got := errors.Is(err, sentinel); got != (sentinel == test.is) {
					t.Errorf("is %q: %v", sentinel, got)
				}
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("ceph osd pool create: sorry (errno %d, ", test.errno)) {
				t.Errorf("message %q", err)
			}
		})
	}
	if got := (&CommandError{Command: "mon dump", Errno: 110}).Error(); got != "ceph mon dump: connection timed out (errno 110)" {
		t.Errorf("message without status: %q", got)
	}
	// What Ceph 16 says while a mgr starts.
	loading := &CommandError{Command: "fs subvolume ls", Errno: -95, Status: "Module 'volumes' is not enabled/loaded (required by command 'fs subvolume ls'): use `ceph mgr module enable volumes` to enable it"}
	// What the mgr of Ceph 18 says whose modules Python cannot load.
	broken := &CommandError{Command: "fs subvolume ls", Errno: -22, Status: "No handler found for 'fs subvolume ls'"}
	// What the mgr of Ceph 20 says of a module that Python has loaded, and that does not start.
	failed := &CommandError{Command: "fs subvolume ls", Errno: -110, Status: "Module 'volumes' did not initialize in time (required by command 'fs subvolume ls'): see https://docs.ceph.com/en/latest/rados/operations/health-checks/#mgr-module-error for troubleshooting tips."}
	for _, err := range []error{loading, broken, failed} {
		if !errors.Is(err, ErrNotLoaded) {
			t.Errorf("%v is not ErrNotLoaded", err)
		}
		if NoAnswer(err) {
			t.Errorf("%v is taken for silence", err)
		}
	}
}
