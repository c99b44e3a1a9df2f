package tags

import (
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestAstrayVolumes: a volume that is not in the journal where ceph-csi looks passes for deleted.
func TestAstrayVolumes(t *testing.T) {
	f := fixtures["CephFS"]
	tests := map[string]struct {
		reason  string
		journal string // that config.json names
		denied  []string
		theirs  bool
		tag     string
		want    string
	}{
		"Found":   {reason: "ceph-csi finds it", want: condition.AsExpected},
		"Another": {reason: "of a cluster before this one", journal: "j", want: condition.PlaceMissing},
		"Unread":  {reason: "nobody knows", journal: "j", denied: []string{"read journal"}, want: condition.AsExpected},
		"Theirs":  {reason: "somebody else's ceph-csi has a config.json of its own", journal: "j", theirs: true, want: condition.AsExpected},
		"Foreign": {reason: "first, it is to be this cluster's", journal: "j", tag: "other", want: condition.ForeignTag},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, f.driver, tc.denied...)
			r.ours, r.clusterIDs[0].JournalNamespace = !tc.theirs, tc.journal
			f.add(r, 1, ceph.TagCluster, tc.tag)
			r.add(t, provisioned(f.driver, 1, 1))
			r.later(t, 0)
			if tc.want == condition.AsExpected {
				r.expect(t, operatorv1.ConditionTrue, tc.want)
			} else {
				r.expect(t, operatorv1.ConditionFalse, tc.want, "PersistentVolume pvc-1 in Ceph cluster "+cephtest.FSID)
			}
			if tc.tag == "" {
				f.expect(t, r, 1, own(1))
				r.expectCounts(t, Counts{Tagged: 1})
			}
		})
	}
}

// TestAstrayVolumeIsBack: what is told of it goes with the cause.
func TestAstrayVolumeIsBack(t *testing.T) {
	f, r := fixtures["CephFS"], newRig(t, driver.CephFS)
	r.clusterIDs[0].JournalNamespace = "j"
	r.ours = false
	f.add(r, 1)
	r.add(t, provisioned(f.driver, 1, 1))
	r.later(t, 0)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected)
	r.ours = true
	r.later(t, lookPause)
	r.expect(t, operatorv1.ConditionFalse, condition.PlaceMissing, "subvolume myfs/csi/csi-vol-"+uuid(1)+" of PersistentVolume pvc-1",
		`RADOS namespace "j" of the metadata pool of filesystem "myfs"`, "its data would stay", "say Retain")
	r.ceph.AddJournal("myfs-metadata", "j", "csi.volume."+uuid(1), "csi.imagename", subvolumeOf(1).Name)
	r.later(t, 30*time.Minute)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected)
}
