package connection

import (
	"context"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Two hundred failures in a row, of every kind that leaves something to close: no session and
// no goroutine stays.
func TestFailuresLeaveNothing(t *testing.T) {
	tests := map[string]struct {
		reason string
		fail   func(f *fixture)
		want   string
	}{
		"Denied": {"a session that may not read the monmap", func(f *fixture) {
			f.ceph.AddUser("weak", "mon dump")
			f.secret(map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("weak")})
		}, "True/AccessDenied"},
		"Refused": {"no session at all", func(f *fixture) { f.secret(f.admin()); f.ceph.AddUser("admin") }, "True/AccessDenied"},
		"WrongCluster": {"a session to another Ceph cluster", func(f *fixture) {
			f.recorded(`{"fsid":"` + otherFSID + `","epoch":1,"monitors":["10.0.0.1:6789"],"monHost":[]}`)
			f.secret(f.admin())
		}, "True/WrongCluster"},
		"Silent": {"nobody answers", func(f *fixture) { f.secret(f.admin()); f.ceph.Stop() }, "True/CephUnreachable"},
		"Lost":   {"a session that lives on", func(f *fixture) { f.secret(f.admin()); f.sync(); f.ceph.Stop() }, "True/CephUnreachable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			tc.fail(f)
			f.pass(time.Minute)
			before, attempts := runtime.NumGoroutine(), f.attempts
			f.pass(200 * redialInterval)
			f.wantCondition(tc.reason, tc.want)
			f.wantClosed(tc.reason)
			want := 200
			if name == "Lost" {
				want = int(200 * redialInterval / deaf)
			}
			if tries := f.attempts - attempts; tries < want {
				t.Errorf("%s: %d tries", tc.reason, tries)
			}
			err := wait.PollUntilContextTimeout(f.ctx, time.Millisecond, 20*time.Second, true,
				func(context.Context) (bool, error) { return runtime.NumGoroutine() <= before+2, nil })
			if err != nil {
				t.Errorf("%s: %d goroutines, %d before", tc.reason, runtime.NumGoroutine(), before)
			}
		})
	}
}
