package ceph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersions(t *testing.T) {
	got, err := ParseVersions([]byte(`{"mon":{"ceph version 16.2.15 (618f) pacific (stable)":3},"mgr":{},
		"osd":{"ceph version 16.2.15 (618f) pacific (stable)":2,"ceph version 17.2.7 (b12) quincy (stable)":1},
		"overall":{"ceph version 16.2.15 (618f) pacific (stable)":5,"ceph version 17.2.7 (b12) quincy (stable)":1}}`))
	want := Versions{"mon": {"16.2.15": 3}, "osd": {"16.2.15": 2, "17.2.7": 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"16.2.15", "17.2.7"}, got.Releases()); diff != "" {
		t.Errorf("releases (-want +got)\n%s", diff)
	}
	for _, bad := range []string{``, `[]`, `{"mon":{"16.2.15":3}}`, `{"mon":["a"]}`} {
		if _, err := ParseVersions([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestReleases: a daemon that has just started has told none, and one that a distributor has built counts as Ceph's.
func TestReleases(t *testing.T) {
	const reply = `{"mon":{"ceph version 20.2.1 (1) tentacle (stable)":3},"osd":{"ceph version 20.2.0-71.el9cp (2) tentacle (stable)":4,"ceph version 9.2.1 (3)":1,"unknown":1}}`
	got, err := ParseVersions([]byte(reply))
	if diff := cmp.Diff([]string{"20.2.0-71.el9cp", "20.2.1", "9.2.1", UnknownRelease}, got.Releases()); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if oldest := got.Oldest(); oldest != "9.2.1" {
		t.Errorf("%s is the oldest", oldest)
	}
	if oldest := (Versions{"osd": {UnknownRelease: 1}}).Oldest(); oldest != "" {
		t.Errorf("%s is the oldest of what is not known", oldest)
	}
	for release, want := range map[string]bool{"20.2.0": true, "20.2.0-71.el9cp": true, "20.2.01": false, "20.2.1": false, "": false} {
		if IsRelease(release, "20.2.0") != want {
			t.Errorf("%s is 20.2.0: want %v", release, want)
		}
	}
}

func TestParseClocks(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  []Clock
		bad   bool
	}{
		"Three": {
			reply: `{"time_skew_status":{"b":{"skew":-0.31,"latency":0.01,"health":"HEALTH_WARN"},"a":{"skew":0,"latency":0,"health":"HEALTH_OK"}},"timechecks":{"epoch":8,"round":2,"round_status":"finished"}}`,
			want:  []Clock{{Mon: "a", OK: true}, {Mon: "b", Skew: -0.31}},
		},
		"One":  {reply: `{"timechecks":{"epoch":3,"round":0,"round_status":"finished"}}`},
		"Text": {reply: `no`, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseClocks([]byte(tc.reply))
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.bad {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestParseQuorum(t *testing.T) {
	got, err := ParseQuorum([]byte(`{"quorum":[1,0],"quorum_names":["b","a"],"quorum_leader_name":"b"}`))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, bad := range []string{``, `{}`, `{"quorum_names":[]}`, `{"quorum_names":5}`} {
		if _, err := ParseQuorum([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestParseFilesystemPools(t *testing.T) {
	got, err := ParseFilesystemPools([]byte(`[{"name":"myfs","metadata_pool":"m","metadata_pool_id":4,"data_pool_ids":[3],"data_pools":["d"]}]`))
	if diff := cmp.Diff([]FilesystemPools{{Filesystem: "myfs", Metadata: "m", Data: []string{"d"}}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := ParseFilesystemPools([]byte(`[]`)); err != nil || len(got) != 0 {
		t.Errorf("no filesystem: %v, %v", got, err)
	}
	if _, err := ParseFilesystemPools([]byte(`{}`)); err == nil {
		t.Error("an object is accepted")
	}
}

func TestParseBanner(t *testing.T) {
	tests := map[string]struct {
		says string
		want Protocol
	}{
		"V1":       {"ceph v027\x00\x00", V1},
		"V1Cut":    {"ceph v02", V1},
		"V2":       {"ceph v2\n\x10\x00", V2},
		"TooShort": {"ceph v", ""},
		"SSH":      {"SSH-2.0-OpenSSH_9.2", ""},
		"Nothing":  {"", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseBanner([]byte(tc.says))
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzParseOverview(f *testing.F) {
	f.Add(`{"mon":{"ceph version 16.2.15 (618f) pacific (stable)":3},"quorum_names":["a"],"time_skew_status":{"a":{"skew":1}}}`)
	f.Add(`[{"name":"myfs","metadata_pool":"m","data_pools":["d"]}]`)
	f.Add("ceph v2\n")
	f.Add(key(1))
	f.Fuzz(func(t *testing.T, text string) {
		data := []byte(text)
		if versions, err := ParseVersions(data); err == nil {
			versions.Releases()
		}
		clocks, err := ParseClocks(data)
		if err != nil && clocks != nil {
			t.Error("clocks beside an error")
		}
		if names, err := ParseQuorum(data); err == nil && len(names) == 0 {
			t.Error("a quorum of nobody")
		}
		_, _ = ParseFilesystemPools(data)
		protocol, err := ParseBanner(data)
		if (err == nil) != (protocol == V1 || protocol == V2) {
			t.Errorf("protocol %q, %v", protocol, err)
		}
		noKey(t, err)
	})
}

func TestParseAllActive(t *testing.T) {
	const manager = `"mgrmap":{"available":true,"num_standbys":0}`
	tests := map[string]struct {
		reason, reply string
		want, bad     bool
		paused        string
	}{
		"All": {
			reason: "scrubbing and backfilling ones answer",
			reply:  `{"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":32},{"state_name":"active+clean+scrubbing+deep","count":1}],"num_pgs":33},` + manager + `}`,
			want:   true,
		},
		"Peering":   {reason: "they wait", reply: `{"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":32},{"state_name":"peering","count":1}]},` + manager + `}`},
		"Laggy":     {reason: "their OSD was not heard", reply: `{"pgmap":{"pgs_by_state":[{"state_name":"active+clean+laggy","count":32}]},` + manager + `}`},
		"NoManager": {reason: "nobody counts any more", reply: `{"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":32}]},"mgrmap":{"available":false}}`},
		"NoPools":   {reason: "nothing to be seen", reply: `{"pgmap":{"pgs_by_state":[],"num_pgs":0},` + manager + `}`},
		"Paused": {
			reason: "an administrator has paused them", paused: "pauserd,pausewr",
			reply: `{"health":{"checks":{"OSDMAP_FLAGS":{"severity":"HEALTH_WARN","summary":{"message":"pauserd,pausewr,noout flag(s) set","count":3}}}},` +
				`"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":32}]},` + manager + `}`,
		},
		"OtherFlags": {
			reason: "they keep nothing from being answered", want: true,
			reply: `{"health":{"checks":{"OSDMAP_FLAGS":{"severity":"HEALTH_WARN","summary":{"message":"noout,noscrub flag(s) set","count":2}}}},` +
				`"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":32}]},` + manager + `}`,
		},
		"Text": {reason: "no reply of Ceph", reply: `no`, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, paused, err := ParseAllActive([]byte(tc.reply))
			if got != tc.want || paused != tc.paused || (err != nil) != tc.bad {
				t.Errorf("got %t, %q, %v; want %t, %q: %s", got, paused, err, tc.want, tc.paused, tc.reason)
			}
		})
	}
}
