package tags

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestUntaggedVolumesAreTagged(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1)
		f.add(r, 2, "other", "key")
		f.add(r, 3, flat(own(3))...)
		f.add(r, 4, ceph.TagCluster, infraID)
		for i := 1; i <= 4; i++ {
			r.add(t, provisioned(f.driver, i, 1))
		}
		r.later(t, 0)
		f.expect(t, r, 1, own(1))
		f.expect(t, r, 2, own(2, "other", "key"))
		f.expect(t, r, 3, own(3))
		f.expect(t, r, 4, own(4))
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
		r.expectCounts(t, Counts{Tagged: 4})

		writes, reads, said := r.writes(), r.client.reads, r.operator.Writes()
		r.later(t, time.Minute)
		r.later(t, 12*time.Hour)
		if r.client.reads != reads {
			t.Errorf("%d reads of what was seen tagged", r.client.reads-reads)
		}
		r.later(t, 13*time.Hour)
		if r.client.reads != reads+4 {
			t.Errorf("%d reads in a day, want 4", r.client.reads-reads)
		}
		r.start()
		r.later(t, 0)
		if r.writes() != writes || r.client.reads != reads+8 || r.operator.Writes() != said {
			t.Errorf("a second pass and a new process write: %v", r.ceph.Writes())
		}
	})
}

// TestLists: with 20,000 volumes, a list of all for each of them takes minutes of CPU time.
func TestLists(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		const volumes = 20
		for i := 1; i <= volumes; i++ {
			f.add(r, i)
			r.add(t, provisioned(f.driver, i, 1))
		}
		r.later(t, 0)
		r.expectCounts(t, Counts{Tagged: volumes})
		if r.lists > 1 {
			t.Errorf("all PersistentVolumes were listed %d times, want 1", r.lists)
		}
	})
}

func TestOtherClustersTagIsKept(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		other := []string{ceph.TagCluster, "other", ceph.TagPV, "pvc-x"}
		f.add(r, 1, other...)
		f.add(r, 2)
		pv := provisioned(f.driver, 1, 1)
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		r.add(t, pv)
		r.add(t, provisioned(f.driver, 2, 1))
		r.later(t, 0)
		f.expect(t, r, 1, map[string]string{ceph.TagCluster: "other", ceph.TagPV: "pvc-x"})
		f.expect(t, r, 2, own(2))
		r.expect(t, operatorv1.ConditionFalse, "ForeignTag", "PersistentVolume pvc-1 in", `"other"`, `"`+infraID+`"`, "csi-vol-"+uuid(1))
		r.expectCounts(t, Counts{Tagged: 1, Conflicting: 1})
		r.later(t, time.Hour)
		r.later(t, time.Hour)
		if len(r.events) != 1 {
			t.Errorf("events: %q", r.events)
		}
		f.add(r, 1)
		r.later(t, time.Hour)
		f.expect(t, r, 1, own(1, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(1)))
		r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	})
}

func TestSomebodyElsesDriverGetsNoEvents(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		r.ours = false
		f.add(r, 1, ceph.TagCluster, "rook")
		r.add(t, provisioned(f.driver, 1, 1))
		r.later(t, 0)
		r.expect(t, operatorv1.ConditionFalse, "ForeignTag", `"rook"`)
		if len(r.events) != 0 {
			t.Errorf("events: %q", r.events)
		}
	})
}

func TestRetainMark(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1)
		pv := provisioned(f.driver, 1, 1)
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		r.add(t, pv)
		r.later(t, 0)
		f.expect(t, r, 1, own(1, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(1)))

		policy := func(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
			return func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeReclaimPolicy = p }
		}
		twin := pv.DeepCopy()
		twin.Name, twin.UID = "twin", "twin"
		r.add(t, twin)
		r.change(t, "pvc-1", policy(corev1.PersistentVolumeReclaimDelete))
		r.news()
		r.later(t, time.Minute)
		f.expect(t, r, 1, own(1, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(1)))

		r.change(t, "twin", policy(corev1.PersistentVolumeReclaimDelete))
		r.news()
		r.later(t, time.Minute)
		f.expect(t, r, 1, own(1))
		r.change(t, "pvc-1", policy(corev1.PersistentVolumeReclaimRetain))
		r.news()
		r.later(t, time.Minute)
		f.expect(t, r, 1, own(1, ceph.TagRetain, "true", ceph.TagRetainOf, uuid(1)))
	})
}

// TestWithoutConfig: while config.json is away, nobody says of a volume in a group of its own that it is gone.
func TestWithoutConfig(t *testing.T) {
	r := newRig(t, driver.RBD)
	entry := []ceph.ConfigEntry{{ClusterID: cephtest.FSID, ImageNamespace: "t"}}
	at := ceph.ImagePlace{Pool: "rbd", Namespace: "t", Name: "csi-vol-" + uuid(1)}
	r.ceph.AddImage(at)
	r.add(t, provisioned(driver.RBD, 1, 1))
	r.clusterIDs = nil
	r.later(t, 0)
	if got, _ := r.controller.Report.Get(); len(got) > 0 {
		t.Errorf("it is judged: %+v", got)
	}
	r.clusterIDs = entry
	r.later(t, time.Minute)
	r.expectCounts(t, Counts{Tagged: 1})
}

// TestUnknownClusterID: before config.json has the clusterID, nobody knows in which journal or group its volumes are.
func TestUnknownClusterID(t *testing.T) {
	f, r := fixtures["CephFS"], newRig(t, driver.CephFS)
	r.clusterIDs = []ceph.ConfigEntry{{ClusterID: "team"}}
	r.ceph.AddJournal("myfs-metadata", "j", "csi.volume."+uuid(1), "csi.imagename", subvolumeOf(1).Name)
	r.ceph.AddSubvolume(subvolumeOf(1))
	r.add(t, provisioned(f.driver, 1, 1))
	r.later(t, 0)
	r.expectCounts(t, Counts{})
	r.clusterIDs = append(r.clusterIDs, ceph.ConfigEntry{ClusterID: cephtest.FSID, JournalNamespace: "j"})
	r.later(t, lookPause)
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	r.expectCounts(t, Counts{Tagged: 1})
}

// TestClusterIDs: somebody else's driver names Ceph clusters, and RADOS namespaces in them, as it
// likes.
func TestClusterIDs(t *testing.T) {
	r := newRig(t, driver.RBD)
	r.clusterIDs = []ceph.ConfigEntry{
		{ClusterID: "rook-ceph", Monitors: []string{"10.20.0.2:3300"}, ImageNamespace: "t"},
		{ClusterID: "elsewhere", Monitors: []string{"10.99.0.2:3300"}},
	}
	at := ceph.ImagePlace{Pool: "rbd", Namespace: "t", Name: "csi-vol-" + uuid(1)}
	r.ceph.AddImage(at)
	for i, handle := range []string{"0001-0009-rook-ceph-0000000000000001-", "0001-0009-elsewhere-0000000000000001-"} {
		pv := provisioned(driver.RBD, i+1, 1)
		pv.Spec.CSI.VolumeHandle = handle + uuid(i+1)
		r.add(t, pv)
	}
	r.later(t, 0)
	if diff := cmp.Diff(own(1), r.ceph.Image(at)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	r.expectCounts(t, Counts{Tagged: 1})
	// A stranger's Ceph cluster is declared later.
	f := fixtures["RBD"]
	f.add(r, 2)
	r.clusterIDs[1].Monitors = r.clusterIDs[0].Monitors
	r.later(t, time.Minute)
	f.expect(t, r, 2, own(2))
}
