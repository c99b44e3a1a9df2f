package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Keys in the application metadata of a pool. They die with the pool, survive its renaming
// and the loss of an OpenShift cluster, and every operator can read them. The ceph tool takes
// no other characters: an administrator must be able to remove the key of a lost cluster.
const (
	// claimKey says that the pool's nodelete flag was set by an operator, not by an administrator.
	claimKey = "storage.openshift.io.nodelete"
	// userPrefix starts the keys of those who use the pool: one for each driver of each
	// OpenShift cluster.
	userPrefix = claimKey + "."

	// inUse and leaving are the values of a user's key: leaving is who takes over what nobody uses
	// any more, to release it.
	inUse   = "in-use"
	leaving = "leaving"
)

// user is what a driver of an OpenShift cluster writes into pools that it uses.
func userKey(infraID, kind string) string { return userPrefix + infraID + "." + kind }

// action is one write to a pool.
type action int

const (
	nothing action = iota
	addUser
	// protect sets the flag and the claim at once, release takes both away.
	protect
	removeUser
	release
)

// next is the one write that brings a pool nearer to what user wants of it: to be protected, or
// not any more. After each, the pool is read again, so that whatever others wrote meanwhile
// counts, and a crash between two writes leaves nothing that the next run does not finish:
//
//	to protect:  own key, then flag and claim; nothing where a flag is somebody else's
//	to release:  own key, where others use the pool; else flag and claim, then own key
//
// A flag without the claim is an administrator's, also beside an own key: it was set while an
// operator was between its writes, or had crashed there. It is left alone for ever.
//
// Two last users who go at the same time leave flag and claim without users. Whoever sees them takes
// them over as one who leaves; of several who do, the first by name releases them, or else all would
// take over and leave in step for ever (seen with two operators and Ceph 16.2.15).
func next(p ceph.Pool, user string, wanted bool) action {
	m := read(p, user)
	administrators := p.NoDelete && !m.claimed
	switch {
	case m.own == "" && (wanted && !administrators || m.claimed && !wanted && m.users+m.leavers == 0):
		return addUser
	case m.own == "":
		return nothing
	case administrators:
		return removeUser
	case wanted && m.own == leaving:
		return addUser
	case wanted && !p.NoDelete:
		return protect
	case wanted:
		return nothing
	case m.claimed && m.users == 0 && (m.leavers == 0 || m.own == leaving && m.first):
		return release
	}
	return removeUser
}

// marks are our keys in a pool, with whatever application they were left.
type marks struct {
	claimed bool
	// own is the value of the user's key; empty when there is none.
	own string
	// users and leavers are how many others there are, first that no leaver's key comes before ours.
	users, leavers int
	first          bool
}

func read(p ceph.Pool, user string) marks {
	m := marks{first: true}
	for _, keys := range p.Metadata {
		for key, value := range keys {
			switch {
			case key == claimKey:
				m.claimed = true
			case key == user:
				m.own = cmp.Or(value, inUse)
			case strings.HasPrefix(key, userPrefix) && value == leaving:
				m.leavers++
				m.first = m.first && user < key
			case strings.HasPrefix(key, userPrefix):
				m.users++
			}
		}
	}
	return m
}

// application is the one that has a key, or else the first: several operators must agree.
func application(p ceph.Pool, key string) string {
	for _, name := range slices.Sorted(maps.Keys(p.Metadata)) {
		if _, found := p.Metadata[name][key]; found {
			return name
		}
	}
	if len(p.Applications) == 0 {
		return ""
	}
	return p.Applications[0]
}

// Marker reads pools and writes their marks.
type Marker interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	SetNoDelete(ctx context.Context, pool string, on bool) error
	SetPoolMetadata(ctx context.Context, pool, application, key, value string) error
	RemovePoolMetadata(ctx context.Context, pool, application, key string) error
}

// perform does one action.
func perform(ctx context.Context, client Marker, p ceph.Pool, user string, wanted bool, a action) error {
	switch a {
	case addUser:
		value := leaving
		if wanted {
			value = inUse
		}
		return client.SetPoolMetadata(ctx, p.Name, application(p, user), user, value)
	case protect:
		return together(
			func() error { return client.SetNoDelete(ctx, p.Name, true) },
			func() error {
				return client.SetPoolMetadata(ctx, p.Name, application(p, claimKey), claimKey, "set-by-an-operator")
			},
		)
	case removeUser:
		return client.RemovePoolMetadata(ctx, p.Name, application(p, user), user)
	case release:
		return together(
			func() error { return client.SetNoDelete(ctx, p.Name, false) },
			func() error { return client.RemovePoolMetadata(ctx, p.Name, application(p, claimKey), claimKey) },
		)
	}
	return nil
}

// together sends two commands at the same time. Mons collect what comes within some hundredths of
// a second into one epoch of the osdmap, so that nobody sees the one without the other, and no
// crash parts them.
func together(one, other func() error) error {
	answer := make(chan error, 1)
	go func() { answer <- one() }()
	return errors.Join(other(), <-answer)
}

// maxActions is more than any pool needs; others may keep writing against us.
const maxActions = 8

// mark brings one pool to what is wanted, and returns the pools as they were read last.
func mark(ctx context.Context, client Marker, pools []ceph.Pool, id int64, user string, wanted bool) ([]ceph.Pool, error) {
	for range maxActions {
		p, found := byID(pools, id)
		if !found {
			return pools, nil
		}
		todo := next(p, user, wanted)
		if todo == nothing {
			return pools, nil
		}
		if err := perform(ctx, client, p, user, wanted, todo); err != nil {
			return pools, err
		}
		var err error
		if pools, err = client.Pools(ctx); err != nil {
			return pools, err
		}
	}
	return pools, nil
}

func byID(pools []ceph.Pool, id int64) (ceph.Pool, bool) {
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.ID == id })
	if i < 0 {
		return ceph.Pool{}, false
	}
	return pools[i], true
}

// Marked names the pools that carry a mark of drivers of an OpenShift cluster.
func Marked(pools []ceph.Pool, infraID string, kinds ...string) []string {
	var names []string
	for _, p := range pools {
		if slices.ContainsFunc(kinds, func(kind string) bool {
			return read(p, userKey(infraID, kind)).own != ""
		}) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Release takes the marks of drivers of an OpenShift cluster off all pools of a Ceph cluster,
// for its uninstallation. The last user's release clears the flag.
func Release(ctx context.Context, client Marker, infraID string, kinds ...string) error {
	pools, err := client.Pools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		for _, kind := range kinds {
			if pools, err = mark(ctx, client, pools, p.ID, userKey(infraID, kind), false); err != nil {
				return fmt.Errorf("releasing pool %q: %w", p.Name, err)
			}
		}
	}
	return nil
}
