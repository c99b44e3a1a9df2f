package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// leaving is the value of a claim of who takes over what nobody uses any more, to release it. It
// gives no right.
const leaving = "leaving"

// user is a driver of an OpenShift cluster.
type user struct{ infraID, kind string }

func (u user) key() string { return driver.ClaimKey(u.infraID, u.kind) }

// change is the key of what the user is about to do with the flag.
func (u user) change() string { return driver.ChangeKey(u.infraID, u.kind) }

// wishes are what a user wants of a pool.
type wishes int

const (
	// gone neither uses nor keeps it.
	gone wishes = iota
	// held has a claim, and the flag, for what this driver does not serve.
	held
	// used has a claim, for the rights that it gives, and does not ask for the flag.
	used
	// kept has a claim, and the flag that keeps the pool from removal.
	kept
)

// keeps says that the flag is wanted.
func (w wishes) keeps() bool { return w == kept || w == held }

func (w wishes) value() string {
	return map[wishes]string{gone: leaving, held: driver.ClaimOthers, used: driver.ClaimUnprotected, kept: driver.ClaimInUse}[w]
}

// action is one write to a pool, or several at once.
type action int

const (
	nothing action = iota
	// claim writes the user's own key, announce that the user changes the flag, enter both at once.
	claim
	announce
	enter
	// setFlag and setKey protect the pool, clearKey and clearFlag release it.
	setFlag
	setKey
	clearKey
	clearFlag
	// finish takes back what was announced, unclaim the user's own key, too.
	finish
	unclaim
)

// next is what brings a pool nearer to what a user wants of it. After each, the pool is read again, so
// that whatever others wrote meanwhile counts, and whatever comes between two writes, a crash or a call
// without an answer, leaves nothing that the next look does not finish:
//
//	to keep:   own claim, announced, then flag, its key, finished; nothing where a flag is somebody else's
//	to leave:  own claim, where others keep the pool; else that claim says so, announced, then the flag's key,
//	           flag, own claim
//
// The flag's key is never there alone: an administrator's flag that joined it would pass for an operator's. Nor
// does a claim that keeps the pool stay while its user releases it: others would put back for it what it takes
// away, in step for ever.
//
// A flag without its key is an administrator's, also beside a claim. It is left alone for ever, unless the
// user has announced a change: then it is half of that.
//
// Two last users who go at the same time leave flag and key without claims. Whoever sees them takes
// them over as one who leaves; of several who do, the first by name releases them, or else all would
// take over and leave in step for ever (seen with two operators and Ceph 16.2.15).
func next(p ceph.Pool, u user, wanted wishes) action {
	m := read(p, u)
	half := p.NoDelete != m.flagged && m.announced
	administrators := p.NoDelete && !m.flagged
	nobody := m.flagged && m.keepers == 0
	keeping := wanted == gone && m.own != "" && m.own != leaving
	done := map[bool]action{true: finish, false: nothing}[m.announced]
	switch {
	case wanted != gone && (m.own != wanted.value() || !m.placed):
		return map[bool]action{true: enter, false: claim}[wanted.keeps() && !p.NoDelete && !m.announced]
	case half && (wanted.keeps() || m.keepers > 0):
		return map[bool]action{true: setKey, false: setFlag}[p.NoDelete]
	case half && keeping:
		return claim
	case half:
		return map[bool]action{true: clearKey, false: clearFlag}[m.flagged]
	case wanted.keeps() && !p.NoDelete:
		return m.announcedFor(setFlag)
	case wanted.keeps():
		return done
	case wanted == used && nobody && m.leavers == 0:
		return m.announcedFor(clearKey)
	case wanted == used:
		return done
	case m.own == "" && nobody && m.leavers+m.others == 0:
		return claim
	case m.own == "":
		return done
	case !administrators && nobody && keeping && m.leavers == 0:
		return map[bool]action{true: claim, false: enter}[m.announced]
	case !administrators && nobody && m.own == leaving && m.first:
		return m.announcedFor(clearKey)
	}
	return unclaim
}

// marks are our keys in a pool, with whatever application they were left.
type marks struct {
	// flagged says that the flag is an operator's.
	flagged bool
	// own is the value of the user's claim; empty when there is none. placed says that it is where
	// it belongs.
	own    string
	placed bool
	// announced says that the user is about to change the flag, announcedByOthers that another one is.
	announced, announcedByOthers bool
	// keepers, others and leavers are how many more claims there are: of those who want the flag, who
	// do not, and who leave. first says that no leaver's key comes before ours.
	keepers, others, leavers int
	first                    bool
}

// announcedFor is a change, once it is announced.
func (m marks) announcedFor(change action) action {
	if m.announced {
		return change
	}
	return announce
}

func read(p ceph.Pool, u user) marks {
	own := u.key()
	m := marks{first: true, placed: true}
	for application, keys := range p.Metadata {
		for key, value := range keys {
			switch {
			case key == driver.ProtectionKey:
				m.flagged = true
			case key == u.change():
				m.announced = true
			case driver.IsChange(key):
				m.announcedByOthers = true
			case key == own && (m.own == "" || application == driver.ClaimApplication(p, u.kind, own)):
				m.own = cmp.Or(value, driver.ClaimInUse)
			case key == own:
			case !strings.HasPrefix(key, driver.ClaimPrefix):
			case value == leaving:
				m.leavers++
				m.first = m.first && own < key
			case value == driver.ClaimUnprotected:
				m.others++
			default:
				m.keepers++
			}
		}
	}
	if m.own != "" {
		_, m.placed = p.Metadata[driver.ClaimApplication(p, u.kind, own)][own]
	}
	return m
}

// holder is the application that has a key, or else the first: several operators must agree.
func holder(p ceph.Pool, key string) string {
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
	// Try returns nil when the user may send the command of a trial, ceph.ErrDenied when not.
	Try(ctx context.Context, trial ceph.Trial) error
	SetNoDelete(ctx context.Context, pool string, on bool) error
	SetPoolMetadata(ctx context.Context, pool, application, key, value string) error
	RemovePoolMetadata(ctx context.Context, pool, application, key string) error
}

// flagged is the value of driver.ProtectionKey.
const flagged = "set-by-an-operator"

// announced is the value of a user's change.
const announced = "announced"

// perform does one action. What belongs together is sent at the same time: mons collect what comes within some
// hundredths of a second into one epoch of the osdmap, so that hardly anybody sees the one without the other.
func perform(ctx context.Context, client Marker, p ceph.Pool, u user, wanted wishes, a action) error {
	return errors.Join(atOnce(commands(ctx, client, p, u, wanted, a)...)...)
}

func commands(ctx context.Context, client Marker, p ceph.Pool, u user, wanted wishes, a action) []func() error {
	const flag = driver.ProtectionKey
	set := func(application, key, value string) func() error {
		return func() error { return client.SetPoolMetadata(ctx, p.Name, application, key, value) }
	}
	remove := func(key string) func() error {
		application := holder(p, key)
		return func() error { return client.RemovePoolMetadata(ctx, p.Name, application, key) }
	}
	noDelete := func(on bool) func() error {
		return func() error { return client.SetNoDelete(ctx, p.Name, on) }
	}
	own := set(driver.ClaimApplication(p, u.kind, u.key()), u.key(), wanted.value())
	announcement := set(holder(p, u.change()), u.change(), announced)
	switch a {
	case claim:
		return []func() error{own}
	case announce:
		return []func() error{announcement}
	case enter:
		return []func() error{own, announcement}
	case setFlag:
		return []func() error{noDelete(true)}
	case setKey:
		return []func() error{set(holder(p, flag), flag, flagged)}
	case clearKey:
		return []func() error{remove(flag)}
	case clearFlag:
		return []func() error{noDelete(false)}
	case finish:
		return []func() error{remove(u.change())}
	case unclaim:
		out := []func() error{remove(u.key())}
		if read(p, u).announced {
			out = append(out, remove(u.change()))
		}
		return out
	}
	return nil
}

func atOnce(commands ...func() error) []error {
	errs := make([]error, len(commands))
	var all sync.WaitGroup
	for i, command := range commands {
		all.Go(func() { errs[i] = command() })
	}
	all.Wait()
	return errs
}

// maxActions is more than any pool needs; others may keep writing against us.
const maxActions = 8

// mark brings one pool to what is wanted, as far as Ceph lets the user, and returns the pools as they were read last.
func mark(ctx context.Context, client Marker, pools []ceph.Pool, id int64, u user, wanted wishes) ([]ceph.Pool, error) {
	var refusal error
	for range maxActions {
		p, found := byID(pools, id)
		if !found {
			return pools, nil
		}
		todo := next(p, u, wanted)
		if refusal == nil {
			refusal = try(ctx, client, p, u, wanted, todo)
		}
		if ceph.NoAnswer(refusal) {
			return pools, refusal
		}
		if refusal != nil {
			todo = without(p, u, wanted, todo)
		}
		if todo == nothing {
			return pools, refusal
		}
		if err := perform(ctx, client, p, u, wanted, todo); err != nil {
			return pools, err
		}
		now, err := client.Pools(ctx)
		if err != nil {
			return pools, err
		}
		pools = now
	}
	return pools, refusal
}

// claimAll writes the claims that pools with these IDs lack, and nothing else.
func claimAll(ctx context.Context, client Marker, pools []ceph.Pool, ids []int64, u user, wanted wishes) error {
	var writes []func() error
	for _, p := range pools {
		todo := next(p, u, wanted)
		if !slices.Contains(ids, p.ID) || len(p.Applications) == 0 || todo != claim && todo != enter {
			continue
		}
		if try(ctx, client, p, u, wanted, todo) != nil {
			todo = claim
		}
		writes = append(writes, func() error { return perform(ctx, client, p, u, wanted, todo) })
	}
	return errors.Join(atOnce(writes...)...)
}

func byID(pools []ceph.Pool, id int64) (ceph.Pool, bool) {
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.ID == id })
	if i < 0 {
		return ceph.Pool{}, false
	}
	return pools[i], true
}

// Marked names the pools that carry a claim of drivers of an OpenShift cluster.
func Marked(pools []ceph.Pool, infraID string, kinds ...string) []string {
	var names []string
	for _, p := range pools {
		if slices.ContainsFunc(kinds, func(kind string) bool {
			return read(p, user{infraID, kind}).own != ""
		}) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Release takes the claims of drivers of an OpenShift cluster off all pools of a Ceph cluster,
// for its uninstallation. The last user's release clears the flag. What Ceph refuses of one pool leaves the
// others to be done.
func Release(ctx context.Context, client Marker, infraID string, kinds ...string) error {
	pools, err := client.Pools(ctx)
	if err != nil {
		return err
	}
	var refused []error
	for _, p := range pools {
		for _, kind := range kinds {
			pools, err = mark(ctx, client, pools, p.ID, user{infraID, kind}, gone)
			if err == nil {
				continue
			}
			refused = append(refused, fmt.Errorf("releasing pool %q: %w", p.Name, err))
			if !refusedAlone(err) {
				return errors.Join(refused...)
			}
		}
	}
	return errors.Join(refused...)
}
