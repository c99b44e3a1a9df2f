package connection

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const thirdFSID = "c0ffee00-0000-4000-8000-000000000003"

func (f *fixture) wantClusters(reason, inUse string, all ...string) {
	f.t.Helper()
	one, _ := f.conn.Cluster.Get()
	list, _ := f.conn.Clusters.Get()
	var fsids []string
	for _, c := range list {
		fsids = append(fsids, c.FSID)
	}
	if one.FSID != inUse || !slices.Equal(fsids, all) {
		f.t.Errorf("%s: in use %q of %v, want %q of %v", reason, one.FSID, fsids, inUse, all)
	}
	for _, fsid := range all {
		client, ok := f.conn.Client(fsid)
		if !ok {
			f.t.Errorf("%s: no client of %s", reason, fsid)
			continue
		}
		if m, err := client.MonMap(f.ctx); err == nil && m.FSID != fsid {
			f.t.Errorf("%s: the client of %s leads to %s", reason, fsid, m.FSID)
		}
	}
	f.wantClosed(reason)
}

// wantNoted is wantCondition for what is no fault of the Ceph cluster in use.
func (f *fixture) wantNoted(reason, want string, fragments ...string) {
	f.t.Helper()
	f.wantCondition(reason, "False/AsExpected")
	got := f.condition(condition.SourcesUsed)
	if text := string(got.Status) + "/" + got.Reason; text != want {
		f.t.Errorf("%s: %s is %s, want %s", reason, condition.SourcesUsed, text, want)
	}
	for _, fragment := range fragments {
		if !strings.Contains(got.Message, fragment) {
			f.t.Errorf("%s: message %q lacks %q", reason, got.Message, fragment)
		}
	}
}

// Nobody has said which of two Ceph clusters is meant: all but that is done, and asked.
func TestSeveralClusters(t *testing.T) {
	f := newFixture(t)
	f.label("b", declaration(f.another(otherFSID)))
	connected(f)
	f.wantClusters("nobody has chosen", "", cephtest.FSID, otherFSID)
	f.wantCondition("nobody has chosen", "True/SeveralClusters", "2 Ceph clusters are declared",
		cephtest.FSID+" (Secret openshift-cluster-csi-drivers/ceph-credentials)", otherFSID+" (Secret openshift-cluster-csi-drivers/b)",
		"Set spec.driverConfig.ceph.cluster of ClusterCSIDriver rbd.csi.ceph.com to the fsid of one")
	f.named = otherFSID
	f.pass(pollInterval)
	f.wantClusters("chosen", otherFSID, cephtest.FSID, otherFSID)
	f.wantCondition("chosen", "False/AsExpected")
	f.named = ""
	f.pass(pollInterval)
	f.wantClusters("the choice is remembered", otherFSID, cephtest.FSID, otherFSID)
	f.wantCondition("the choice is remembered", "False/AsExpected")
	record, _, err := f.conn.record.Load()
	if err != nil || record.FSID != otherFSID || record.Of(cephtest.FSID).Epoch != f.ceph.MonMap().Epoch {
		t.Errorf("recorded %+v, %v", record, err)
	}
	f.kube.ClearActions()
	f.pass(time.Minute)
	if n := f.writes(); n != 0 || f.attempts != 2 {
		t.Errorf("an idle minute: %d writes, %d dials in all", n, f.attempts)
	}
	f.restart()
	f.sync()
	f.wantClusters("restarted", otherFSID, cephtest.FSID, otherFSID)
}

// A Secret that makes no sense is no rival.
func TestBrokenRival(t *testing.T) {
	f := newFixture(t)
	f.label("b", map[string][]byte{"keyring": []byte("?")})
	connected(f)
	f.wantClusters("the other one works", cephtest.FSID, cephtest.FSID)
	f.wantNoted("and is reported", "False/CredentialsInvalid", "Secret openshift-cluster-csi-drivers/b: ")
}

// What happens to a further Ceph cluster is nothing to the one in use.
func TestFurtherCluster(t *testing.T) {
	f := newFixture(t)
	connected(f)
	b := f.another(otherFSID)
	f.label("b", declaration(b))
	f.sync()
	f.wantClusters("declared later", cephtest.FSID, cephtest.FSID, otherFSID)
	f.wantCondition("declared later", "False/AsExpected")

	b.AddMon("new")
	f.pass(pollInterval)
	if record, _, _ := f.conn.record.Load(); record.Of(otherFSID).Epoch != b.MonMap().Epoch || record.FSID != cephtest.FSID {
		t.Errorf("recorded %+v", record)
	}
	b.Stop()
	f.pass(outage)
	f.wantNoted("silent", "False/CephUnreachable", "Ceph cluster "+otherFSID+" does not answer")
	f.wantClusters("silent", cephtest.FSID, cephtest.FSID, otherFSID)
	f.ceph.AddMon("b")
	f.pass(pollInterval)
	if one, _ := f.conn.Cluster.Get(); len(one.MonMap.Mons) != 2 {
		t.Error("the one in use is not followed while the other is silent")
	}
	f.restart()
	f.sync()
	f.wantClusters("silent at the start", cephtest.FSID, cephtest.FSID)
	f.wantNoted("silent at the start", "False/CephUnreachable", "Secret openshift-cluster-csi-drivers/b")

	b.Start()
	b.RemoveMon("x49")
	f.pass(redialInterval)
	f.wantClusters("found by the mon that was known last", cephtest.FSID, cephtest.FSID, otherFSID)
	f.label("b", nil)
	f.pass(pollInterval)
	f.wantClusters("withdrawn", cephtest.FSID, cephtest.FSID)
	f.wantNoted("withdrawn", "True/AsExpected")
	if record, _, _ := f.conn.record.Load(); len(record.Of(otherFSID).Monitors) != 1 {
		t.Errorf("volumes may still be there, recorded %+v", record)
	}
}

// Two Secrets for one Ceph cluster: the first is used as long as it leads there.
func TestDuplicate(t *testing.T) {
	f := newFixture(t)
	f.ceph.AddUser("weak")
	f.label("b", map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("weak")})
	connected(f)
	user := func() string { one, _ := f.conn.Cluster.Get(); return one.Credentials.UserID }
	f.wantCondition("no fault", "False/AsExpected")
	if c := f.condition(condition.SourcesUsed); c.Reason != condition.DuplicateCluster || user() != "admin" ||
		!strings.Contains(c.Message, "ceph-credentials and Secret openshift-cluster-csi-drivers/b lead to the same Ceph cluster "+cephtest.FSID+"; the first is used") {
		t.Errorf("user %q, condition %v", user(), c)
	}
	f.secret(nil)
	f.pass(pollInterval)
	f.wantCondition("the other still declares it", "False/AsExpected")
	f.label("b", nil)
	f.secret(f.admin())
	f.pass(pollInterval)
	if c := f.condition(condition.SourcesUsed); c.Reason != condition.AsExpected || user() != "admin" {
		t.Errorf("one is left: user %q, condition %v", user(), c)
	}
}

// Complaints stand in one order, whichever came first.
func TestComplaintsAreMerged(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.label("c", map[string][]byte{})
	f.sync()
	f.label("b", map[string][]byte{"ceph.conf": f.another(otherFSID).Conf(), "keyring": f.ceph.Keyring("admin")})
	f.sync()
	f.wantNoted("two are wrong", "False/AccessDenied", "/b: the user does not exist", "/c: none of ceph.conf")
	message := f.condition(condition.SourcesUsed).Message
	if strings.Index(message, "/b: ") > strings.Index(message, "/c: ") {
		t.Errorf("not sorted: %s", message)
	}
	f.pass(time.Minute)
	if got := f.condition(condition.SourcesUsed).Message; got != message {
		t.Errorf("became %q, was %q", got, message)
	}
	f.wantClusters("one is right", cephtest.FSID, cephtest.FSID)
}

// A labelled Secret alone is enough; what is in use outlives it.
func TestOnlyLabelled(t *testing.T) {
	f := newFixture(t)
	f.label("b", f.admin())
	f.sync()
	f.wantClusters("the only one", cephtest.FSID, cephtest.FSID)
	f.wanted = true
	f.label("b", nil)
	f.pass(pollInterval)
	f.wantCondition("gone", "True/CredentialsMissing", "oc -n openshift-cluster-csi-drivers create secret generic ceph-credentials")
	f.wantClusters("still followed", cephtest.FSID, cephtest.FSID)
	third := f.another(otherFSID)
	f.label("c", declaration(third))
	f.pass(pollInterval)
	f.wantCondition("another one is no substitute", "True/CredentialsMissing", "in Ceph cluster "+cephtest.FSID, "/c to "+otherFSID)
	f.label("c", map[string][]byte{})
	f.pass(pollInterval)
	f.wantCondition("nor is a typo", "True/CredentialsInvalid", "/c: none of ceph.conf")
	f.label("c", declaration(third))
	f.named = thirdFSID
	f.pass(pollInterval)
	f.wantCondition("nor is one that nobody declares", "True/WrongCluster", thirdFSID, "/c to "+otherFSID)
}

// With a worker of its own, no source waits for another one.
func TestHangingSourceHurtsNobody(t *testing.T) {
	f := newFixture(t)
	b := f.another(otherFSID)
	b.Hang()
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	f.informers.Start(ctx.Done())
	ended := make(chan struct{})
	go func() { defer close(ended); f.conn.Run(ctx, 1) }()
	for name, data := range map[string]map[string][]byte{"a": declaration(b), SecretName: f.admin()} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: name, Labels: map[string]string{driver.ClusterLabel: ""}}, Data: data}
		if _, err := f.kube.CoreV1().Secrets(driver.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	epoch := int64(0)
	for range 3 {
		epoch++
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			all, _ := f.conn.Clusters.Get()
			return f.clock.HasWaiters() && slices.ContainsFunc(all, func(c ceph.Cluster) bool { return c.MonMap.Epoch == epoch }), nil
		})
		if err != nil {
			t.Fatalf("epoch %d is not seen while the other Ceph cluster hangs", epoch)
		}
		f.ceph.AddMon(string(rune('a' + epoch)))
		f.clock.Step(pollInterval)
	}
	cancel()
	b.Start()
	<-ended
	if _, ok := f.client(); ok {
		t.Error("Client still gives a session after Run")
	}
}
