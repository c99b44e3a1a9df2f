package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// UsersCeph is what is needed of a Ceph cluster to look after cephx users.
type UsersCeph interface {
	ListCeph
	User(ctx context.Context, id string) (ceph.User, error)
	RemoveUser(ctx context.Context, id string) error
}

// Users is the part of the cephx users that the operator made for a cluster. A client that is
// connected as one of them shows that the cluster still lives.
type Users struct {
	options Options
	ceph    UsersCeph
	ids     []string
	keep    bool
}

// NewUsers returns the part; ids are the names of the cluster's users without "client.", all of
// which end with its infra ID. With keep, they are looked at and stay.
func NewUsers(o Options, c UsersCeph, ids []string, keep bool) *Users {
	return &Users{options: o, ceph: c, ids: ids, keep: keep}
}

// unseen is what --force does not spare: a mapping that is read-only has no watch (rbd status).
const unseen = "; an image that a node maps read-only does not show in Ceph that it is in use"

// Find looks for the users, and for clients that are connected as one of them.
func (u *Users) Find(ctx context.Context, before []Decision) (Findings, error) {
	var out Findings
	if strings.TrimSpace(u.options.InfraID) == "" {
		return out, ErrNoInfraID
	}
	// exists is false for users that these credentials may not read.
	var found []string
	exists := map[string]bool{}
	for _, id := range u.ids {
		if !strings.HasSuffix(id, "."+u.options.InfraID) {
			return out, fmt.Errorf("user %q is none of cluster %q", id, u.options.InfraID)
		}
		_, err := Limited(ctx, func(ctx context.Context) (ceph.User, error) { return u.ceph.User(ctx, id) })
		switch {
		case err == nil, errors.Is(err, ceph.ErrDenied):
			found = append(found, id)
			exists[id] = err == nil
		case !errors.Is(err, ceph.ErrNotFound):
			return out, err
		}
	}
	removes := slices.ContainsFunc(before, func(d Decision) bool { return d.Verdict == Remove })
	if len(found) == 0 && !removes {
		return out, nil
	}
	gone, err := u.gone(ctx, before)
	if err != nil {
		return out, err
	}
	sessions, err := Limited(ctx, u.ceph.Sessions)
	if err != nil && !gone {
		out.Alive = append(out.Alive, fmt.Sprintf("whether clients of the cluster are connected cannot be seen: %v", err))
	}
	for _, id := range found {
		hosts := connected(sessions, id)
		if len(hosts) > 0 {
			out.Alive = append(out.Alive, fmt.Sprintf("client.%s is connected from %s%s", id, strings.Join(hosts, ", "), unseen))
		}
		if exists[id] {
			out.Decisions = append(out.Decisions, u.decide(id, hosts, u.needed(before)))
		}
	}
	return out, nil
}

// gone says that nothing but users is left of the cluster, and dead claims. Then nothing rests on them,
// even where nobody can tell who is connected.
//
//	volumes with its tag, or unreadable | claims | operators that run | its operators ever said that they run | gone
//	some                                | –      | –                  | –                                     | no
//	none                                | none   | –                  | –                                     | yes
//	none                                | some   | some               | –                                     | no
//	none                                | some   | none               | no: they may be older than that       | no
//	none                                | some   | none               | yes                                   | yes
func (u *Users) gone(ctx context.Context, before []Decision) (bool, error) {
	if slices.ContainsFunc(before, func(d Decision) bool { return d.Tag == u.options.InfraID || u.options.stays(d) }) {
		return false, nil
	}
	pools, err := Limited(ctx, u.ceph.Pools)
	if err != nil || claimsIn(pools)[u.options.InfraID] == nil {
		return err == nil, err
	}
	running, err := runningIn(ctx, u.ceph, pools, u.options.InfraID)
	if err != nil || len(running) > 0 {
		return false, err
	}
	seen, err := lastSeen(ctx, u.ceph, pools, u.options.InfraID)
	return !seen.IsZero(), err
}

// needed says that volumes stay which objects of the cluster itself name: it lives by its users.
func (u *Users) needed(before []Decision) bool {
	return u.options.Ours != nil && slices.ContainsFunc(before, func(d Decision) bool { return d.Verdict != Remove && u.options.Ours(d.Item) })
}

func (u *Users) decide(id string, hosts []string, needed bool) Decision {
	item := Item{Kind: User, Name: "client." + id}
	switch {
	case u.keep:
		return item.Decide(Keep, "--keep-users")
	case u.options.limited():
		return item.Decide(Keep, "the run is limited, and what it leaves may need the user")
	case needed:
		return item.Decide(Keep, "volumes stay that objects of the cluster name")
	case len(hosts) > 0:
		return item.Decide(Refuse, "clients are connected as it from "+strings.Join(hosts, ", "))
	}
	return item.Decide(Remove, "made by the operator for this cluster")
}

// limited says that the run leaves volumes of the cluster by intention.
func (o Options) limited() bool {
	return len(o.Pools)+len(o.Filesystems)+len(o.Volumes) > 0
}

// connected are the hosts of a user's clients, sorted.
func connected(sessions []ceph.Session, id string) []string {
	var hosts []string
	for _, s := range sessions {
		if s.Entity == "client."+id {
			hosts = append(hosts, host(s))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

func host(s ceph.Session) string {
	return cmp.Or(s.Host, "an unnamed host")
}

// Remove removes the users. Users go last: whatever else was removed needs none of them.
func (u *Users) Remove(ctx context.Context, agreed []Decision, tell func(Outcome)) error {
	for _, d := range agreed {
		id := strings.TrimPrefix(d.Name, "client.")
		err := Call(ctx, func(ctx context.Context) error { return u.ceph.RemoveUser(ctx, id) })
		tell(Outcome{Decision: d, Err: err})
	}
	return nil
}
