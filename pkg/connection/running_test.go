package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// run has one worker empty the queue.
func (f *fixture) run(ctx context.Context) error {
	syncCtx := factory.NewSyncContext("test", f.recorder)
	queue := syncCtx.Queue()
	defer queue.ShutDown()
	queue.Add(factory.DefaultQueueKey)
	var errs []error
	for queue.Len() > 0 {
		key, _ := queue.Get()
		errs = append(errs, f.conn.Sync(ctx, syncContext{syncCtx, key.(string)}))
		queue.Done(key)
	}
	return errors.Join(errs...)
}

// syncContext is what a worker hands over with a key.
type syncContext struct {
	factory.SyncContext
	key string
}

func (s syncContext) QueueKey() string { return s.key }

// dial reaches whichever Ceph cluster has mons of the source.
func (f *fixture) dial(ctx context.Context, source ceph.Source) (*cephtest.Client, error) {
	f.mu.Lock()
	f.attempts++
	f.mu.Unlock()
	var err error
	for _, c := range append([]*cephtest.Cluster{f.ceph}, f.further...) {
		session, tried := c.Dial(ctx, source)
		if tried == nil {
			f.mu.Lock()
			f.dialed = append(f.dialed, session)
			f.mu.Unlock()
			return session, nil
		}
		if !errors.Is(tried, ceph.ErrUnreachable) {
			err = tried
		}
	}
	return nil, cmp.Or(err, ceph.ErrUnreachable)
}

// another makes a further Ceph cluster, with other mons and another key of client.admin.
func (f *fixture) another(fsid string) *cephtest.Cluster {
	c := cephtest.New()
	c.SetFSID(fsid)
	last := "a"
	for i := range 50 * (len(f.further) + 1) {
		name := fmt.Sprint("x", i)
		c.AddMon(name)
		c.RemoveMon(last)
		c.AddUser("admin")
		last = name
	}
	f.further = append(f.further, c)
	return c
}

// declaration is the Secret that the administrator of a Ceph cluster would make.
func declaration(c *cephtest.Cluster) map[string][]byte {
	return map[string][]byte{"ceph.conf": c.Conf(), "keyring": c.Keyring("admin")}
}

// label creates or changes a Secret that declares a further Ceph cluster; nil deletes it.
func (f *fixture) label(name string, data map[string][]byte) {
	f.put(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: name,
		Labels: map[string]string{driver.ClusterLabel: ""}}, Data: data})
}

// client is the live session to either Ceph cluster.
func (f *fixture) client() (*cephtest.Client, bool) {
	for _, fsid := range []string{cephtest.FSID, otherFSID} {
		if client, ok := f.conn.Client(fsid); ok {
			return client, true
		}
	}
	return nil, false
}

// wantClosed fails the test when a session other than the live one was left open.
func (f *fixture) wantClosed(reason string) {
	f.t.Helper()
	var current []*cephtest.Client
	for _, fsid := range []string{cephtest.FSID, otherFSID, thirdFSID} {
		session, _ := f.conn.Client(fsid)
		current = append(current, session)
	}
	for i, session := range f.dialed {
		if _, err := session.MonMap(f.ctx); !slices.Contains(current, session) && !errors.Is(err, ceph.ErrClosed) {
			f.t.Errorf("%s: session %d was left open", reason, i)
		}
	}
}
