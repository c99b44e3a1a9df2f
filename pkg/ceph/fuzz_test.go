package ceph

import (
	"strings"
	"testing"
)

// noKey fails when an error shows the key that the fuzzed text may hold.
func noKey(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), key(1)[:keyLikeRun]) {
		t.Errorf("the error shows a key: %q", err)
	}
}

func FuzzParseConf(f *testing.F) {
	f.Add("[global]\nmon_host = [v2:10.0.0.1:3300,v1:10.0.0.1:6789] # x\nfsid = \"a\"\n")
	f.Add("\xef\xbb\xbfmon host=a;b\\\n,c\r\n[mon.a]\nmon addr = '1'")
	f.Add(key(1))
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ParseConf([]byte(text))
		noKey(t, err)
	})
}

func FuzzParseKeyring(f *testing.F) {
	f.Add("[client.admin]\n\tkey = "+key(1)+"\n\tcaps mon = \"allow *\"\n", "")
	f.Add("["+key(1)+"]", "x")
	f.Add("[client.a]\nkey="+key(1)+"x\n[mon.]", "b")
	f.Fuzz(func(t *testing.T, text, wanted string) {
		entities, err := ParseKeyring([]byte(text))
		noKey(t, err)
		if err != nil {
			return
		}
		got, err := PickUser(entities, wanted)
		noKey(t, err)
		if _, keyErr := ParseKey(got.Key.Reveal()); err == nil && keyErr != nil {
			t.Errorf("an invalid key is accepted: %v", keyErr)
		}
	})
}

func FuzzParseMonHost(f *testing.F) {
	f.Add("[v2:[::1]:3300/0,v1:[::1]:6789/0],10.0.0.1 v1:10.0.0.2:6789;a:7000")
	f.Add("[[]")
	f.Add("v2:" + key(1))
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ParseMonHost(t.Context(), text, hosts(map[string]string{"a": "10.0.0.9"}))
		noKey(t, err)
		if err != nil {
			return
		}
		again, err := ParseMonHost(t.Context(), MonHost(first), hosts(nil))
		if err != nil || MonHost(again) != MonHost(first) {
			t.Errorf("%q reads as %q, and that as %q: %v", text, MonHost(first), MonHost(again), err)
		}
	})
}

func FuzzReplies(f *testing.F) {
	f.Add(monDump)
	f.Add(`[{"pool_id":1}]`)
	f.Add(`{"filesystems":[{"mdsmap":{"info":{"a":{}}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ParseMonDump([]byte(text)); err == nil && len(m.Monitors()) != len(m.Mons) {
			t.Error("mons are lost")
		}
		_, _ = ParsePools([]byte(text))
		_, _ = ParseFileSystems([]byte(text))
		_, _ = ParseSubvolumeGroups([]byte(text))
		_, _ = ParseVersion([]byte(text))
		_, _ = ParseSessions([]byte(text))
		_, _ = ParseFileClients([]byte(text))
		_, _ = ParseSubvolumeInfo([]byte(text))
		_, _ = ParseSubvolumeMetadata([]byte(text))
		_, _ = ParsePendingClones([]byte(text))
		_, _ = ParseCapacities([]byte(text))
		_, _ = ParseFilesystemPools([]byte(text))
		_, _ = ParseBanner([]byte(text))
		_, _ = ParseWatchers([]byte(text))
		if said := (Watcher{Answer: []byte(text)}).String(); strings.ContainsAny(said, "\n\r") {
			t.Errorf("a watcher fills more than a line: %q", said)
		}
	})
}

func FuzzParseRefTracker(f *testing.F) {
	version := []byte{0, 0, 0, refTrackerVersion}
	f.Add([]byte{0, 0, 0, 1}, version, "a", []byte{1}, "b", []byte{2})
	f.Add([]byte{0, 0, 0, 2}, version, "a", []byte{1}, "", []byte{1})
	f.Fuzz(func(t *testing.T, data, version []byte, one string, first []byte, other string, second []byte) {
		tracker, err := ParseRefTracker(data, version, map[string][]byte{one: first, other: second})
		if err != nil {
			return
		}
		count, found, others := tracker.Drop([]string{one, other, one})
		if count != 0 || others || len(found) != len(tracker.Masked) {
			t.Errorf("of %+v are left %d, %v", tracker, count, others)
		}
	})
}

func FuzzNames(f *testing.F) {
	const uuid = "11111111-2222-4333-8444-555555555555"
	f.Add("csi.volume." + uuid)
	f.Add("csi.volumes.default")
	f.Add("csi-vol-" + uuid + "-temp")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := ParseJournalName(name); ok && !n.Directory && n.Object() != name {
			t.Errorf("journal %q is called %q", name, n.Object())
		}
		if n, ok := ParseCSIName(name); ok && n.Owner() != strings.TrimSuffix(name, temporarySuffix) {
			t.Errorf("%q belongs to %q", name, n.Owner())
		}
	})
}

func FuzzParseUser(f *testing.F) {
	f.Add(`[{"entity":"client.csi-rbd-node.x","key":"` + key(1) + `","caps":{"mon":"profile rbd","osd":"a, b"}}]`)
	f.Add(`[{"entity":"` + key(1) + `","key":1}]`)
	f.Fuzz(func(t *testing.T, text string) {
		user, err := ParseUser([]byte(text))
		noKey(t, err)
		_, err = ParseUserIDs([]byte(text))
		noKey(t, err)
		if _, keyErr := ParseKey(user.Key.Reveal()); err == nil && keyErr != nil {
			t.Errorf("an invalid key is accepted: %v", keyErr)
		}
		// Whatever somebody wrote into caps, taking them apart and together stands still.
		once := user.Caps.With(Caps{})
		if again := once.With(Caps{}); err == nil && again != once {
			t.Errorf("caps %q become %q, then %q", user.Caps, once, again)
		}
	})
}
