package connection

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// live is the session in use.
type live[S Session] struct {
	session S
	// data and declared are the Secret that it was made from, and the fsid in it.
	data     map[string][]byte
	declared string
	cluster  ceph.Cluster
	unsaved  bool // the state has yet to learn cluster

	polled   time.Time
	answered time.Time
	silent   verdict // of the last poll; zero when it was answered
	complain verdict // on a cluster that is in use nevertheless
}

// poll reads the monmap over the live session. A Ceph cluster that turns out to be another
// one ends the session.
func (c *Connection[S]) poll(ctx context.Context, id identity) {
	l := c.live
	m, err := c.monMap(ctx, l.session)
	l.polled = c.config.Clock.Now()
	if err == nil {
		err = id.older(m)
	}
	if err != nil {
		l.silent = silent(err, l.cluster)
		return
	}
	id.declared = l.declared
	use, complain := id.check(m.FSID)
	if !use {
		c.failed = &attempt{data: l.data, named: id.named, at: l.polled, verdict: complain}
		c.replace(nil)
		return
	}
	l.answered, l.silent, l.complain = l.polled, verdict{}, complain
	c.publish(ceph.Cluster{FSID: m.FSID, MonMap: m, Credentials: l.cluster.Credentials})
}

// dial tries the declaration in the Secret and, if it leads to the right Ceph cluster, puts
// the new session in the place of the old one.
func (c *Connection[S]) dial(ctx context.Context, f facts, managed bool) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	fail := func(v verdict) {
		c.failed = &attempt{data: f.data, named: f.named, at: c.config.Clock.Now(), verdict: v}
	}
	source, err := ceph.ParseSource(ctx, f.data, c.config.Resolve)
	if err != nil {
		fail(misread(err))
		return
	}
	f.declared = source.FSID
	session, err := c.config.Dial(ctx, target(source, f.identity))
	if err != nil {
		fail(refused(err, source))
		return
	}
	m, err := c.monMap(ctx, session)
	if err == nil {
		err = f.older(m)
	}
	if err != nil {
		session.Close()
		fail(refused(err, source))
		return
	}
	use, complain := f.check(m.FSID)
	if !use {
		session.Close()
		fail(complain)
		return
	}
	now := c.config.Clock.Now()
	c.failed = nil
	c.replace(&live[S]{session: session, data: f.data, declared: f.declared, polled: now, answered: now, complain: complain})
	c.publish(ceph.Cluster{FSID: m.FSID, MonMap: m, Credentials: source.Credentials})
	if managed {
		c.config.Recorder.Eventf("CephConnected", "Connected as client.%s to Ceph cluster %s with the mons %s",
			source.UserID, m.FSID, strings.Join(m.Monitors(), ", "))
	}
}

func (c *Connection[S]) monMap(ctx context.Context, session S) (ceph.MonMap, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	m, err := session.MonMap(ctx)
	if err == nil && len(m.Mons) == 0 {
		err = errors.New("it lists no mon")
	}
	return m, err
}

// publish hands a cluster that was checked to the other controllers.
func (c *Connection[S]) publish(cluster ceph.Cluster) {
	if before := c.live.cluster.MonMap; before.Epoch != cluster.MonMap.Epoch {
		klog.InfoS("New monmap", "fsid", cluster.FSID, "epoch", cluster.MonMap.Epoch, "mons", cluster.MonMap.Monitors())
	}
	c.mu.Lock()
	c.live.cluster, c.live.unsaved = cluster, true
	c.mu.Unlock()
	c.config.Cluster.Set(cluster)
	c.config.Clusters.Set([]ceph.Cluster{cluster})
}

// remember records the cluster for the next process. Only what was just read is recorded,
// so that a record which a person deleted comes back from Ceph alone.
func (c *Connection[S]) remember(ctx context.Context, managed bool) error {
	if c.live == nil || !c.live.unsaved || !managed {
		return nil
	}
	cluster := c.live.cluster
	record := state.Cluster{FSID: cluster.FSID, Epoch: cluster.MonMap.Epoch, Monitors: cluster.MonMap.Monitors()}
	for _, a := range cluster.MonMap.MonHost() {
		record.MonHost = append(record.MonHost, a.String())
	}
	previous, _, err := c.record.Load()
	if err != nil {
		return err
	}
	if err := c.record.Save(ctx, previous.Succeed(record)); err != nil {
		return err
	}
	c.live.unsaved = false
	return nil
}

// replace puts next, or nothing for nil, in the place of the live session and closes that.
func (c *Connection[S]) replace(next *live[S]) {
	c.mu.Lock()
	previous := c.live
	c.live = next
	c.mu.Unlock()
	if previous != nil {
		previous.session.Close()
	}
}

// target is what Dial gets: without the fsid, which is compared here, where the message can
// name both; and with the mons that were known last, because all of those in the Secret may
// have been replaced since. They are left out when another Ceph cluster is meant: a list
// with mons of two leads to either.
func target(source ceph.Source, id identity) ceph.Source {
	declared := source.FSID
	source.FSID = ""
	for _, meant := range []string{declared, id.named} {
		if meant != "" && meant != id.recorded.FSID {
			return source
		}
	}
	known, err := ceph.ParseMonHost(context.Background(), strings.Join(id.recorded.MonHost, ","), unresolvable)
	if err != nil { // none recorded, or edited by hand
		return source
	}
	source.Monitors = ceph.UniqueAddresses(slices.Concat(source.Monitors, known))
	return source
}

func unresolvable(context.Context, string) ([]netip.Addr, error) { return nil, ceph.ErrUnresolved }
