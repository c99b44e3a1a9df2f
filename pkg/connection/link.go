package connection

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// link is the connection that one source leads to. One worker at a time calls step; everybody
// may look.
type link[S Session] struct {
	key    string
	config Config[S]

	mu   sync.Mutex // guards what is below
	live *live[S]
	// failed is the declaration that led nowhere; nil when the newest one is in use.
	failed *attempt
	closed bool
}

// live is the session in use.
type live[S Session] struct {
	session S
	// data and declared are the source that it was made from, and the fsid in it.
	data     map[string][]byte
	declared string
	cluster  ceph.Cluster
	unsaved  bool // the state has yet to learn cluster
	versions ceph.Versions
	// versioned is when they were asked for.
	versioned time.Time

	polled   time.Time
	answered time.Time
	tried    time.Time // to have another session in its place, because it is silent
	silent   verdict   // of the last poll; zero when it was answered
	denied   verdict   // that another session was refused while this one is silent
	complain verdict   // on a cluster that is in use nevertheless
}

// attempt is a declaration that led nowhere, and why.
type attempt struct {
	data    map[string][]byte
	meant   meant
	at      time.Time
	verdict verdict
}

// step keeps a session alive whatever happens to its source, and tries what is new.
func (l *link[S]) step(ctx context.Context, id identity, managed bool) {
	steps := l.decide(id)
	if steps.poll {
		l.poll(ctx, id)
	}
	switch {
	case steps.dial:
		l.dial(ctx, id, managed)
	case steps.again:
		l.dialAgain(ctx, id)
	}
}

// poll reads the monmap over the live session. A Ceph cluster that turns out to be another
// one ends the session.
func (l *link[S]) poll(ctx context.Context, id identity) {
	now := l.live // only step replaces it
	m, err := l.monMap(ctx, now.session)
	if err == nil {
		l.askVersions(ctx, now)
	}
	if err == nil {
		err = id.older(m)
	}
	polled := l.config.Clock.Now()
	id.declared = now.declared
	use, complain := id.check(m.FSID)
	l.mu.Lock()
	now.polled = polled
	switch {
	case err != nil:
		now.silent = silent(err, now.cluster)
	case use:
		now.answered, now.silent, now.denied, now.complain = polled, verdict{}, verdict{}, complain
		now.learn(ceph.Cluster{FSID: m.FSID, MonMap: m, Credentials: now.cluster.Credentials})
	default:
		l.failed = &attempt{data: now.data, meant: id.meant, at: polled, verdict: complain}
	}
	l.mu.Unlock()
	if err == nil && !use {
		l.replace(nil)
	}
}

// dial tries what the source declares and, if it leads to the right Ceph cluster, puts the new
// session in the place of the old one.
func (l *link[S]) dial(ctx context.Context, id identity, managed bool) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	next, v := l.try(ctx, id)
	if v.bad() && next == nil {
		l.mu.Lock()
		l.failed = &attempt{data: id.source.data, meant: id.meant, at: l.config.Clock.Now(), verdict: v}
		l.mu.Unlock()
		return
	}
	l.replace(next)
	if managed {
		l.config.Recorder.Eventf("CephConnected", "Connected as client.%s of %s to Ceph cluster %s with the mons %s",
			next.cluster.Credentials.UserID, id.source.where, next.cluster.FSID, strings.Join(next.cluster.MonMap.Monitors(), ", "))
	}
}

// dialAgain tries another session like the live one, which may be deaf. Where that is not answered either,
// it is Ceph that is silent, and nothing changes. That it is refused says why.
func (l *link[S]) dialAgain(ctx context.Context, id identity) {
	now := l.live // only step replaces it
	if !now.silent.bad() {
		return // The poll of this step was answered.
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	id.source.data = now.data
	next, v := l.try(ctx, id)
	if next == nil {
		klog.InfoS("Another session finds no more than the silent one", "fsid", now.cluster.FSID, "reason", v.reason)
		l.mu.Lock()
		now.tried, now.denied = l.config.Clock.Now(), verdict{}
		if v.reason == condition.AccessDenied {
			now.denied = v
		}
		l.mu.Unlock()
		return
	}
	klog.InfoS("Another session is answered where the last one was silent", "fsid", next.cluster.FSID)
	l.replace(next)
}

// try returns the new session, or what is wrong with the declaration.
func (l *link[S]) try(ctx context.Context, id identity) (*live[S], verdict) {
	declared, err := ceph.ParseSource(ctx, id.source.data, l.config.Resolve)
	if err != nil {
		return nil, misread(err, id.source)
	}
	id.declared = declared.FSID
	session, err := l.config.Dial(ctx, target(declared, id))
	if err != nil {
		return nil, refused(err, declared, id.source)
	}
	m, err := l.monMap(ctx, session)
	if err == nil {
		err = id.older(m)
	}
	if err != nil {
		session.Close()
		return nil, refused(err, declared, id.source)
	}
	use, complain := id.check(m.FSID)
	if !use {
		session.Close()
		return nil, complain
	}
	now := l.config.Clock.Now()
	next := &live[S]{session: session, data: id.source.data, declared: declared.FSID, polled: now, answered: now, complain: complain}
	next.learn(ceph.Cluster{FSID: m.FSID, MonMap: m, Credentials: declared.Credentials})
	l.askVersions(ctx, next)
	return next, complain
}

// askVersions lets the last answer stand where there is none.
func (l *link[S]) askVersions(ctx context.Context, of *live[S]) {
	if !of.versioned.IsZero() && l.config.Clock.Since(of.versioned) < versionInterval {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	versions, err := of.session.Versions(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	of.versioned = l.config.Clock.Now()
	if err == nil {
		of.versions = versions
	}
}

func (l *link[S]) monMap(ctx context.Context, session S) (ceph.MonMap, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	m, err := session.MonMap(ctx)
	if err == nil && len(m.Mons) == 0 {
		err = errors.New("it lists no mon")
	}
	return m, err
}

// learn takes over what was just read and checked.
func (l *live[S]) learn(cluster ceph.Cluster) {
	if l.cluster.MonMap.Epoch != cluster.MonMap.Epoch {
		klog.InfoS("New monmap", "fsid", cluster.FSID, "epoch", cluster.MonMap.Epoch, "mons", cluster.MonMap.Monitors())
	}
	l.cluster, l.unsaved = cluster, true
}

// replace puts next, or nothing for nil, in the place of the live session and closes that.
func (l *link[S]) replace(next *live[S]) {
	l.mu.Lock()
	previous := l.live
	l.live = next
	if next != nil {
		l.failed = nil
	}
	if l.closed && next != nil {
		l.live, previous = nil, next
	}
	l.mu.Unlock()
	if previous != nil {
		previous.session.Close()
	}
}

// close ends the link for good, also under a step.
func (l *link[S]) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.replace(nil)
}

func (l *link[S]) client(fsid string) (S, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil || l.live.cluster.FSID != fsid || fsid == "" {
		var none S
		return none, false
	}
	return l.live.session, true
}

func (l *link[S]) connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live != nil
}

// saved says that the state has learnt a cluster.
func (l *link[S]) saved(cluster ceph.Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live != nil && l.live.cluster.FSID == cluster.FSID && l.live.cluster.MonMap.Epoch == cluster.MonMap.Epoch {
		l.live.unsaved = false
	}
}
