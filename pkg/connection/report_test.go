package connection

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
)

// What is told of each connection, and since when.
func TestReports(t *testing.T) {
	f := newFixture(t)
	want := func(reason string, all ...Report) {
		t.Helper()
		got, _ := f.conn.Reports.Get()
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", reason, diff)
		}
	}
	const first, second = "Secret openshift-cluster-csi-drivers/ceph-credentials", "Secret openshift-cluster-csi-drivers/b"
	f.sync()
	if _, published := f.conn.Reports.Get(); published {
		t.Error("published although nothing is declared")
	}
	b := f.another(otherFSID)
	b.Stop()
	f.label("b", declaration(b))
	connected(f)
	start := f.clock.Now()
	one := Report{FSID: cephtest.FSID, Sources: []string{first}, Reachable: true, Since: start, Releases: []string{"16.2.15"}, Version: "16.2.15", Epoch: 1, EpochSince: start}
	nowhere := Report{Sources: []string{second}, Since: start, EpochSince: time.Time{}}
	f.named = cephtest.FSID
	want("one is silent from the start", nowhere, one)
	f.pass(time.Minute)
	want("times stand still", nowhere, one)

	f.ceph.AddMon("b")
	f.pass(pollInterval)
	one.Epoch, one.EpochSince = 2, f.clock.Now()
	want("a new monmap", nowhere, one)
	all, _ := f.conn.Clusters.Get()
	if len(all) != 1 || all[0].Version != one.Version || !all[0].EpochSince.Equal(one.EpochSince) {
		t.Errorf("those who decide by it are told less than people: %+v", all)
	}
	f.ceph.Stop()
	f.pass(outage - pollInterval)
	want("an election", nowhere, one)
	f.pass(pollInterval)
	one.Reachable, one.Since = false, f.clock.Now()
	want("an outage", nowhere, one)
	f.label("b", f.admin())
	f.ceph.Start()
	f.pass(redialInterval)
	one.Reachable, one.Since, one.Sources = true, f.clock.Now().Add(-pollInterval), []string{second, first}
	want("back, and declared twice", one)
}
