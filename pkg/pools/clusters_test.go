package pools

import (
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestSeveralCephClusters: each has pools of its own, whose names mean nothing to the other.
func TestSeveralCephClusters(t *testing.T) {
	const fsid = "c0ffee00-0000-4000-8000-000000000002"
	second := cephtest.New()
	second.SetFSID(fsid)
	second.AddPool(ceph.Pool{Name: "here", Applications: []string{"rbd"}})
	second.AddPool(ceph.Pool{Name: "there", Applications: []string{"rbd"}})
	second.AddPool(ceph.Pool{Name: "old", Applications: []string{"rbd"}})
	second.AddMon("b")
	second.RemoveMon("a")
	session, err := second.Dial(t.Context(), second.Source())
	if err != nil {
		t.Fatal(err)
	}
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "here", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "there", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "old", Applications: []string{"rbd"}})
	r.config.Client = func(asked string) (Cluster, bool) {
		if asked == fsid {
			return session, true
		}
		return r.client, true
	}
	clusters, _ := r.config.Clusters.Get()
	r.config.Clusters.Set(append(clusters, ceph.Cluster{FSID: fsid, MonMap: second.MonMap()}))
	r.start()

	there, typo := class(driver.RBD, "there", "pool", "there"), class(driver.RBD, "typo", "pool", "tehre")
	there.Parameters["clusterID"], typo.Parameters["clusterID"] = fsid, fsid
	legacy := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		RBD: &corev1.RBDPersistentVolumeSource{RBDPool: "old", CephMonitors: []string{"1.2.3.4:6789", second.MonMap().Mons[0].Addrs[0].IP + ":6789"}},
	}}}
	r.use(t, classes(class(driver.RBD, "here", "pool", "here"), there, typo), legacy)
	r.expectFlagged(t, "the first one", "here")
	for name, want := range map[string]bool{"here": false, "there": true, "old": true} {
		if flag, _ := marked(t, second, name); flag != want {
			t.Errorf("the second one: pool %q has the flag: %t", name, flag)
		}
	}
	r.expectProblems(t, "in the second one", `StorageClass typo, Ceph cluster `+fsid+`: pool "tehre" does not exist`)
	r.expectReport(t, Report{
		Missing:     map[string][]string{fsid: {"tehre"}},
		Protected:   map[string][]string{cephtest.FSID: {"here"}, fsid: {"old", "there"}},
		Unprotected: map[string][]string{},
	})

	second.Stop()
	r.ceph.RemovePool("here")
	r.clock.SetTime(r.clock.Now().Add(2 * time.Minute))
	r.sync(t)
	r.expectProblems(t, "what is known of a silent one stays, and the other is looked after",
		`StorageClass here, Ceph cluster `+cephtest.FSID+`: pool "here" does not exist`, `StorageClass typo, Ceph cluster `+fsid)
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
}
