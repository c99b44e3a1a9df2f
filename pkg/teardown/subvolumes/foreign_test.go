package subvolumes

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// TestVolumeOfOthers: a volume goes, and loses its data, though somebody else's snapshot of it stays.
func TestVolumeOfOthers(t *testing.T) {
	tests := map[string]struct {
		reason  string
		lay     func(f *fakeFiles, a, b tenant) (volume, snapshot string)
		verdict teardown.Verdict // of the snapshot; empty: not listed
		code    int
	}{
		"Untagged": {
			reason: "nobody knows whose it is", verdict: teardown.Keep,
			lay: func(f *fakeFiles, a, _ tenant) (string, string) {
				volume := a.volume()
				return volume, f.bare(volume, a.snapshot(volume))
			},
		},
		"Tagged": {
			reason: "it is another cluster's", lay: func(f *fakeFiles, a, b tenant) (string, string) {
				volume := a.volume()
				return volume, b.snapshot(volume)
			},
		},
		"ByHand": {
			reason: "an administrator tagged a snapshot of another volume, and that alone stays for it", code: teardown.CodeRefused,
			lay: func(f *fakeFiles, a, b tenant) (string, string) {
				f.subvolumes["csi-vol-"+b.volume()].snapshots["daily"] = &fakeSnapshot{metadata: map[string]string{ceph.TagCluster: "a"}}
				volume := a.volume()
				f.subvolumes["csi-vol-"+volume].snapshots["csi-snap-weekly"] = &fakeSnapshot{}
				return volume, "weekly"
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeFiles()
			volume, snapshot := tc.lay(f, tenant{f, "a"}, tenant{f, "b"})
			report, err := tearDown(t, f, func(c *teardown.Config) { c.Force = true })
			verdicts := map[string]teardown.Verdict{}
			for _, l := range report.Items {
				verdicts[l.UUID] = l.Verdict
			}
			if err != nil || report.Code() != tc.code || verdicts[snapshot] != tc.verdict || verdicts[volume] != teardown.Remove {
				t.Errorf("%s: %v: %+v", tc.reason, err, report)
			}
			if left := f.subvolumes["csi-vol-"+volume]; left == nil || left.state != ceph.SubvolumeRetained || f.snap(volume, snapshot) == nil {
				t.Errorf("%s: left is %+v", tc.reason, left)
			}
		})
	}
}

// TestVolumeOfUnread: nobody knows whether a snapshot that cannot be read is somebody else's, in a run over its volume alone, too.
func TestVolumeOfUnread(t *testing.T) {
	volume, unread := teardowntest.UUID(), teardowntest.UUID()
	in := inventory{
		filesystem: ceph.FileSystem{ID: 1, Name: "myfs"},
		subvolumes: []subvolume{{
			place: ceph.SubvolumePlace{Filesystem: "myfs", Group: "csi", Name: "csi-vol-" + volume}, state: ceph.SubvolumeComplete,
			metadata: map[string]string{ceph.TagCluster: "a", ceph.TagPV: "pv"}, snapshots: []snapshot{{name: "csi-snap-" + unread, unread: "EIO"}},
		}},
		journals: []ceph.Journal{
			{Kind: ceph.JournalVolume, UUID: volume, Image: "csi-vol-" + volume}, {Kind: ceph.JournalSnapshot, UUID: unread, Image: "csi-snap-" + unread},
		},
	}
	p := decide(teardown.Options{InfraID: "a", Volumes: []ceph.VolumeHandle{{LocationID: 1, UUID: volume}}}, in)
	i := slices.IndexFunc(p.decisions, func(d teardown.Decision) bool { return d.UUID == volume })
	if i < 0 || p.decisions[i].Verdict != teardown.Refuse {
		t.Errorf("%+v", p.decisions)
	}
}
