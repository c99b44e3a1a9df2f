package subvolumes

import "testing"

// TestGroupJournal: as in VolumeGroupJournalConfig.Connect of ceph-csi's internal/journal.
func TestGroupJournal(t *testing.T) {
	var j groupJournal
	for i, want := range []string{"csi", "mine", "mine"} {
		if got := j.next("csi", "mine"); got != want {
			t.Errorf("call %d has the namespace %q, want %q", i+1, got, want)
		}
	}
	if got := j.next("csi", "other"); got != "mine" {
		t.Errorf("a call for another Ceph cluster has the namespace %q", got)
	}
}
