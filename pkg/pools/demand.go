package pools

import (
	"fmt"
	"slices"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// demand is what the OpenShift cluster asks of its Ceph clusters.
type demand struct {
	usage usage.Usage
	// place is where the default StorageClass's volumes go.
	place ceph.Placement
	// user is who claims pools.
	user user
	// create and protect are settings.
	create, protect bool
	// undecided says that place may yet be found: nothing is released before.
	undecided bool
	// minted says that the driver's users have narrow caps.
	minted bool
	// apart is the time between two looks that prove something.
	apart time.Duration
}

func (c *Care) demand(used usage.Usage, settings driver.Settings, infraID string) demand {
	place, decided := c.Placement.Get()
	minted, _ := c.Minted.Get()
	return demand{
		usage: used, place: place, user: user{infraID, c.Driver.Kind},
		create: settings.CreatesPools(), protect: settings.ProtectsPools(), undecided: !decided && c.Open(),
		minted: minted, apart: settings.Withdrawal(),
	}
}

// text tells demands apart. How many volumes there are makes no difference to Ceph: it changes
// every few seconds.
func (d demand) text() string {
	places := slices.Concat(d.usage.Places, d.usage.Others)
	for i := range places {
		places[i].Volumes, places[i].Snapshots = min(places[i].Volumes, 1), min(places[i].Snapshots, 1)
	}
	legacy := slices.Clone(d.usage.Legacy)
	for i := range legacy {
		legacy[i].Volumes = 1
	}
	return fmt.Sprintf("%+v %d %+v %+v %+v %+v %t %t %t %t", places, len(d.usage.Others), legacy, d.usage.Config, d.place, d.user, d.create, d.protect, d.undecided, d.minted)
}

// view is what was seen of one Ceph cluster.
type view struct {
	client Cluster
	at     time.Time
	// proven is the proof that was known when it was looked at.
	proven time.Time
	// outdated says that the demand is another one since.
	outdated bool
	// found is nil until the cluster was looked at once.
	found *findings
	// used are the names, sorted, of the pools in use that show it; nil until that is known.
	used []string
	// groups are the subvolume groups of filesystems, namespaces the RADOS namespaces of pools.
	groups, namespaces map[string]listing
	// unused is since when no use of pools is known that have something to be withdrawn, by ID.
	unused map[int64]time.Time
	// answers are what Ceph said last of those that it knows better about, by ID. A proof is fresh for a
	// minute only, and Ceph is not asked between two of them.
	answers map[int64]answer
}

// answer is what keeps a pool although nothing on this cluster names it.
type answer struct {
	// examples are what is tagged there.
	examples []string
	// err is why nobody can tell.
	err error
}

func (c *Care) view(fsid string) *view {
	v := c.seen[fsid]
	if v == nil {
		v = &view{groups: map[string]listing{}, namespaces: map[string]listing{}, unused: map[int64]time.Time{}, answers: map[int64]answer{}}
		c.seen[fsid] = v
	}
	return v
}

// due is how long the next look may wait.
func (v *view) due(client Cluster, now, proven time.Time, watched bool) time.Duration {
	news := len(v.unused) > 0 && v.proven.Before(proven)
	if v.found == nil || v.found.waiting > 0 || v.outdated || v.client != client || news {
		return 0
	}
	interval := careInterval
	if watched || v.found.wrong() {
		interval = watchInterval
	}
	return max(0, interval-now.Sub(v.at))
}

// findings are what a look at one Ceph cluster led to.
type findings struct {
	classes []classProblem
	// lost are sentences about volumes whose place is gone.
	lost []string
	// astray are sentences about volumes that ceph-csi looks for elsewhere.
	astray []string
	// missing, protected and unprotected are names of pools and filesystems.
	missing, protected, unprotected []string
	capacities                      []Capacity
	// trouble is why pools are not protected.
	trouble []trouble
	// waiting is how many pools the time did not suffice for.
	waiting int
	// withheld are sentences about what is not withdrawn yet.
	withheld []string
}

type classProblem struct{ class, text string }

type trouble struct{ reason, text string }

func (f findings) wrong() bool { return len(f.classes)+len(f.lost)+len(f.trouble) > 0 }
