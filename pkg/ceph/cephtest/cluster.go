// Package cephtest is a Ceph cluster in memory, which behaves towards its clients as a real
// one does as far as pkg/ceph/rados shows it. Contract holds the tests that both pass.
package cephtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// FSID of the cluster that New makes.
const FSID = "c0ffee00-0000-4000-8000-000000000001"

// Cluster is a Ceph cluster. Its methods are what an administrator does to it.
type Cluster struct {
	mu          sync.Mutex
	fsid        string
	epoch       int64
	mons        []ceph.Mon
	monsMade    int
	neverJoined []string
	pools       []ceph.Pool
	poolsMade   int64
	capacities  map[int64]ceph.Capacity
	filesystems []ceph.FileSystem
	fsMade      int64
	groups      map[string][]string
	// namespaces are the RADOS namespaces for images, by pool ID.
	namespaces map[int64][]string
	users      map[string]user
	keys       ceph.KeyTypes
	keysMade   uint64
	// emergency are types of keys with which mons let users in beside keys.Allowed.
	emergency []ceph.KeyType
	// refusesWeak is the error number with which mons refuse to make keys of type aes; 0 where they make them.
	refusesWeak syscall.Errno
	writes      map[string]int
	dials       int
	// outage is nil while the cluster answers.
	outage  *outage
	daemons daemons
	volumes volumes
	// watched are the objects in ceph.PresenceNamespace, with who watches them; written is when they were,
	// by now.
	watched     map[object][]*watch
	written     map[object]time.Time
	now         func() time.Time
	clientsMade uint64
}

// New makes a cluster with mon "a" and user client.admin, without pools and filesystems.
func New() *Cluster {
	c := &Cluster{fsid: FSID, capacities: map[int64]ceph.Capacity{}, groups: map[string][]string{}, namespaces: map[int64][]string{}, users: map[string]user{}, writes: map[string]int{}, volumes: newVolumes(), watched: map[object][]*watch{}, written: map[object]time.Time{}, now: time.Now}
	c.AddMon("a")
	c.AddUser("admin")
	return c
}

// SetClock has objects that are watched written at times of another clock.
func (c *Cluster) SetClock(now func() time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// SetFSID makes it another Ceph cluster.
func (c *Cluster) SetFSID(fsid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fsid = fsid
}

// SetKeyTypes is `ceph mon set auth_allowed_ciphers` and `auth_preferred_cipher` of Ceph 20.2.4.
func (c *Cluster) SetKeyTypes(preferred ceph.KeyType, allowed ...ceph.KeyType) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = ceph.KeyTypes{Allowed: allowed, Preferred: preferred}
	c.epoch++
}

// StartWithEmergencyCiphers restarts all mons with mon_auth_emergency_allowed_ciphers, which the monmap does not show.
func (c *Cluster) StartWithEmergencyCiphers(kinds ...ceph.KeyType) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emergency = kinds
}

// RefuseWeakKeys is `ceph config set mon mon_auth_allow_insecure_key false`: mons answer with that number. 0 takes it
// back.
func (c *Cluster) RefuseWeakKeys(errno syscall.Errno) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusesWeak = errno
}

// AddMon adds a mon at addresses that no mon ever had.
func (c *Cluster) AddMon(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.monsMade++
	ip := fmt.Sprintf("10.20.%d.%d", c.monsMade/250, c.monsMade%250+1)
	c.mons = append(c.mons, ceph.Mon{Name: name, Addrs: []ceph.Address{
		{Protocol: ceph.V2, IP: ip, Port: 3300}, {Protocol: ceph.V1, IP: ip, Port: 6789},
	}})
	c.epoch++
}

// ExpectMon puts a mon into the monmap that never joined, as mon_initial_members does.
func (c *Cluster) ExpectMon(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.neverJoined = append(c.neverJoined, name)
	c.epoch++
}

// RemoveMon removes a mon; clients that are connected find the others.
func (c *Cluster) RemoveMon(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mons = slices.DeleteFunc(c.mons, func(m ceph.Mon) bool { return m.Name == name })
	c.epoch++
}

// MonMap is the current map.
func (c *Cluster) MonMap() ceph.MonMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.monMap()
}

func (c *Cluster) monMap() ceph.MonMap {
	mons := slices.Clone(c.mons)
	slices.SortFunc(mons, func(a, b ceph.Mon) int { return strings.Compare(a.Name, b.Name) })
	return ceph.MonMap{FSID: c.fsid, Epoch: c.epoch, Mons: mons, NeverJoined: slices.Sorted(slices.Values(c.neverJoined)), Keys: c.keys}
}

// Credentials of a user; zero when there is none.
func (c *Cluster) Credentials(id string) ceph.Credentials {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ceph.Credentials{UserID: id, Key: c.users[id].key}
}

// Source declares the cluster with its current mons and client.admin.
func (c *Cluster) Source() ceph.Source {
	m := c.MonMap()
	return ceph.Source{Monitors: m.MonHost(), FSID: m.FSID, Credentials: c.Credentials("admin")}
}

// Conf is the ceph.conf that an administrator has.
func (c *Cluster) Conf() []byte {
	m := c.MonMap()
	var vectors []string
	for _, mon := range m.Mons {
		vectors = append(vectors, fmt.Sprintf("[%s/0,%s/0]", mon.Addrs[0], mon.Addrs[1]))
	}
	return fmt.Appendf(nil, "[global]\nfsid = %s\nmon_host = %s\n", m.FSID, strings.Join(vectors, ","))
}

// Keyring is the keyring of a user.
func (c *Cluster) Keyring(id string) []byte {
	return fmt.Appendf(nil, "[client.%s]\n\tkey = %s\n", id, c.Credentials(id).Key.Reveal())
}

// Writes counts the write commands that reached Ceph, by prefix.
func (c *Cluster) Writes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.writes)
}

// Dials counts the connections that were made.
func (c *Cluster) Dials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials
}
