package connection

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// A new monmap is published and recorded with the next poll; without one nothing is written.
func TestFollowsTheMonMap(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.kube.ClearActions()
	f.pass(time.Minute)
	if n := f.writes(); n != 0 || f.attempts != 1 {
		t.Errorf("an idle minute: %d writes, %d dials, want 0 and 1", n, f.attempts)
	}
	f.ceph.AddMon("b")
	f.ceph.RemoveMon("a")
	f.pass(pollInterval)
	published, _ := f.conn.Cluster.Get()
	if diff := cmp.Diff(f.ceph.MonMap(), published.MonMap); diff != "" {
		t.Errorf("published, -want +got:\n%s", diff)
	}
	if all, _ := f.conn.Clusters.Get(); len(all) != 1 || all[0].MonMap.Epoch != published.MonMap.Epoch {
		t.Errorf("published of all clusters: %v", all)
	}
	record, found, err := f.conn.record.Load()
	if err != nil || !found {
		t.Fatalf("recorded: %t, %v", found, err)
	}
	m := f.ceph.MonMap()
	if record.FSID != m.FSID || record.Epoch != m.Epoch || !slices.Equal(record.Monitors, m.Monitors()) {
		t.Errorf("recorded %v, want %v", record, m)
	}
}

// Syncs for other reasons than time do not ask Ceph: each poll is a line in the mons' log.
func TestPollsNoMoreThanNeeded(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.AddMon("b")
	f.sync()
	if published, _ := f.conn.Cluster.Get(); len(published.MonMap.Mons) != 1 {
		t.Error("a sync right after a poll polled again")
	}
}

// Elections take up to 15 seconds; only a longer silence is a condition.
func TestOutage(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.Stop()
	f.pass(outage - pollInterval)
	f.wantCondition("an election", "False/AsExpected")
	f.pass(pollInterval)
	f.wantCondition("an outage", "True/CephUnreachable", cephtest.FSID, "10.20.0.2:6789")
	if published, known := f.conn.Cluster.Get(); !known || published.FSID != cephtest.FSID {
		t.Error("the outage took the published cluster away")
	}
	f.ceph.Start()
	f.pass(pollInterval)
	f.wantCondition("Ceph is back", "False/AsExpected")
	if f.attempts != 1 {
		t.Errorf("%d dials: a connection survives an outage by itself", f.attempts)
	}
	f.ceph.Stop()
	f.pass(outage - pollInterval)
	f.wantCondition("the next silence is counted anew", "False/AsExpected")
}

// librados 16 may lose its mons for good, when the one it asks is removed while it runs: it then has no
// connection to any mon, and makes none, although all that are left answer.
func TestDeafSession(t *testing.T) {
	f := newFixture(t)
	connected(f)
	old, _ := f.client()
	f.ceph.Stop()
	f.ceph = cephtest.New()
	f.ceph.AddMon("b")
	f.pass(deaf - pollInterval)
	if f.attempts != 1 {
		t.Errorf("%d dials: librados is left the time to find another mon", f.attempts)
	}
	f.pass(pollInterval)
	f.wantCondition("another session was answered", "False/AsExpected")
	if published, _ := f.conn.Cluster.Get(); len(published.MonMap.Mons) != 2 || f.attempts != 2 {
		t.Errorf("published %v after %d dials", published.MonMap, f.attempts)
	}
	if _, err := old.MonMap(f.ctx); !errors.Is(err, ceph.ErrClosed) {
		t.Errorf("the deaf session: %v, want it closed", err)
	}
}

// Where Ceph itself is silent, another session finds no more, and what is said about it stays.
func TestSilentCeph(t *testing.T) {
	f := newFixture(t)
	connected(f)
	old, _ := f.client()
	f.ceph.Stop()
	f.pass(deaf)
	f.wantCondition("no session is answered", "True/CephUnreachable", "does not answer")
	f.pass(deaf - pollInterval)
	if client, _ := f.client(); client != old || f.attempts != 2 {
		t.Errorf("%d dials within twice the time, want 2", f.attempts)
	}
	f.ceph.Start()
	f.pass(pollInterval)
	f.wantCondition("Ceph is back", "False/AsExpected")
	if client, _ := f.client(); client != old {
		t.Error("a session that is answered again was replaced")
	}
}

// TestRefusedWhileSilent: a session goes on when its user loses the key, until the mons are started again. Then it is silent,
// and only another one is told why.
func TestRefusedWhileSilent(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.Stop()
	f.pass(pollInterval)
	f.ceph.AddUser("admin")
	old := f.ceph
	f.ceph = cephtest.New()
	f.ceph.AddUser("admin")
	f.pass(deaf)
	f.wantCondition("the key is another one", "True/AccessDenied", "has another key")
	f.pass(pollInterval)
	f.wantCondition("a poll that is silent is no news", "True/AccessDenied", "has another key")
	f.ceph = old
	old.Start()
	f.pass(pollInterval)
	f.wantCondition("the session is answered", "False/AsExpected")
}

// After the consent to move, the record keeps the Ceph cluster that old volumes are in.
func TestMoveIsRecorded(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.SetFSID(otherFSID)
	f.named = otherFSID
	f.secret(f.admin())
	f.pass(2 * pollInterval)
	f.wantCondition("moved", "False/AsExpected")
	record, _, err := f.conn.record.Load()
	if err != nil || record.FSID != otherFSID || len(record.Others) != 1 || record.Others[0].FSID != cephtest.FSID {
		t.Errorf("recorded %v, %v", record, err)
	}
	f.named = ""
	f.pass(pollInterval)
	f.wantCondition("the consent is needed once", "False/AsExpected")
}

// The new connection takes over only once it works.
func TestChangedSecret(t *testing.T) {
	f := newFixture(t)
	connected(f)
	old, _ := f.client()
	bad := f.admin()
	bad["keyring"] = f.ceph.Keyring("nobody")
	f.secret(bad)
	f.sync()
	f.wantCondition("a user without key", "True/CredentialsInvalid")
	if client, _ := f.client(); client != old || !f.alive() {
		t.Error("a bad Secret replaced the connection")
	}
	f.ceph.AddMon("b")
	f.pass(pollInterval)
	if published, _ := f.conn.Cluster.Get(); len(published.MonMap.Mons) != 2 {
		t.Error("the old connection is not polled while the Secret is bad")
	}

	f.ceph.AddUser("weak")
	f.secret(map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("weak")})
	f.sync()
	f.wantCondition("the Secret was mended", "False/AsExpected")
	if _, err := old.MonMap(f.ctx); !errors.Is(err, ceph.ErrClosed) {
		t.Errorf("the replaced connection: %v, want it closed", err)
	}
	if published, _ := f.conn.Cluster.Get(); published.Credentials.UserID != "weak" || !f.alive() {
		t.Errorf("published user %q, alive %t", published.Credentials.UserID, f.alive())
	}
}

// Putting the old content back ends the complaint without a new connection.
func TestRevertedSecret(t *testing.T) {
	f := newFixture(t)
	connected(f)
	good := f.admin()
	with("keyring", "{}")(f)
	f.wantCondition("broken", "True/CredentialsInvalid")
	f.secret(good)
	f.sync()
	f.wantCondition("reverted", "False/AsExpected")
	if f.attempts != 1 {
		t.Errorf("%d dials, want 1", f.attempts)
	}
}

// A declaration that failed rests for 10 seconds; another one is tried at once.
func TestPausesAfterFailure(t *testing.T) {
	f := newFixture(t)
	f.ceph.Stop()
	connected(f)
	f.pass(redialInterval - pollInterval)
	if f.attempts != 1 {
		t.Errorf("%d dials before the pause was over, want 1", f.attempts)
	}
	f.pass(pollInterval)
	if f.attempts != 2 {
		t.Errorf("%d dials after the pause, want 2", f.attempts)
	}
	f.ceph.Start()
	f.ceph.AddUser("weak")
	f.secret(map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("weak")})
	f.sync()
	f.wantCondition("another declaration", "False/AsExpected")
}

// Every mon of ceph.conf was replaced; those that were known last still lead to Ceph.
func TestRestartWithAllMonsReplaced(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.AddMon("b")
	f.ceph.RemoveMon("a")
	f.pass(pollInterval)
	f.restart()
	f.sync()
	f.wantCondition("restarted", "False/AsExpected")
	if !f.alive() {
		t.Error("no connection after the restart")
	}
}

// TestRecordsFirst: what was told pods must lead the next process to Ceph, and what was recorded must reach them. Where it cannot
// be recorded, pods are told all the same.
func TestRecordsFirst(t *testing.T) {
	f := newFixture(t)
	connected(f)
	var told []int64
	refuse := error(nil)
	f.kube.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		one, _ := f.conn.Cluster.Get()
		all, _ := f.conn.Clusters.Get()
		told = append(told, one.MonMap.Epoch, all[0].MonMap.Epoch)
		return refuse != nil, nil, refuse
	})
	before := f.ceph.MonMap().Epoch
	f.ceph.AddMon("b")
	f.pass(pollInterval)
	if !slices.Equal(told, []int64{before, before}) {
		t.Errorf("epochs %v were told before epoch %d was recorded, want %d", told, f.ceph.MonMap().Epoch, before)
	}
	refuse = errors.New("no")
	f.ceph.AddMon("c")
	f.clock.Step(pollInterval)
	if err := f.run(f.ctx); !errors.Is(err, refuse) {
		t.Errorf("sync: %v", err)
	}
	if one, _ := f.conn.Cluster.Get(); one.MonMap.Epoch != f.ceph.MonMap().Epoch {
		t.Error("mons that cannot be recorded are told nobody")
	}
}

// Without an answer the condition of the last process still stands.
func TestEndedBeforeTheFirstAnswer(t *testing.T) {
	f := newFixture(t)
	f.ceph.Hang()
	f.secret(f.admin())
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if err := f.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("sync: %v", err)
	}
	f.wantCondition("no answer yet", "")
}

// The running controller reacts to the Secret, polls by the clock, and leaves no connection.
func TestRun(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	f.informers.Start(ctx.Done())
	ended := make(chan struct{})
	go func() { defer close(ended); f.conn.Run(ctx, 3) }()
	eventually := func(what string, done func() bool) {
		t.Helper()
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 30*time.Second, true,
			func(context.Context) (bool, error) { return done(), nil })
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	mons := func() int { published, _ := f.conn.Cluster.Get(); return len(published.MonMap.Mons) }

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: SecretName}, Data: f.admin()}
	if _, err := f.kube.CoreV1().Secrets(driver.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually("connect", func() bool { return mons() == 1 })
	f.ceph.AddMon("b")
	eventually("ticker", f.clock.HasWaiters)
	f.clock.Step(pollInterval)
	eventually("poll", func() bool { return mons() == 2 })

	session, _ := f.client()
	cancel()
	<-ended
	if _, err := session.MonMap(context.Background()); !errors.Is(err, ceph.ErrClosed) {
		t.Errorf("the session after Run: %v, want it closed", err)
	}
	if _, ok := f.client(); ok {
		t.Error("Client still gives a session after Run")
	}
}
