package pools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// try returns why the user cannot go through with a change of the flag that an action begins or goes on with. Ceph is
// asked beforehand: a change that is announced and then refused would cost an epoch of the osdmap with each look, and
// as long as the announcement stood, an administrator's flag would pass for half of the change.
func try(ctx context.Context, client Marker, p ceph.Pool, u user, wanted wishes, a action) error {
	needed := false
	switch a {
	case setFlag, clearFlag:
		needed = true
	case enter, announce:
		needed = p.NoDelete != wanted.keeps()
	case clearKey:
		needed = p.NoDelete
	case claim:
		needed = wanted == gone && p.NoDelete && wholly(read(p, u))
	}
	if !needed {
		return nil
	}
	err := client.Try(ctx, ceph.TryProtect(p.Name))
	if ceph.NoAnswer(err) {
		return err
	}
	var refused *ceph.CommandError
	if errors.Is(err, ceph.ErrDenied) && errors.As(err, &refused) {
		return fmt.Errorf("setting nodelete of pool %q to %t: %w", p.Name, !p.NoDelete, refused)
	}
	return nil // The command itself will tell.
}

// wholly says that a release begins, with the flag's key there: one that has lost it has to be finished, and claimed until then.
func wholly(m marks) bool { return m.own == "" || m.flagged }

// without is what is left of an action for a user who may not change the flag: claims, and to take back what was announced,
// after a key that has no flag; that key is left to another user who has announced a change, as one of an older version does
// for ever. A flag that has lost its key in a release stays announced until somebody may clear it: who put the key back would
// do so for ever beside an operator of another cluster that may, and takes it away. Whoever may not clear a flag does not say
// that he leaves: nobody else would clear it then.
func without(p ceph.Pool, u user, wanted wishes, a action) action {
	m := read(p, u)
	switch a {
	case claim:
		if wanted == gone && wholly(m) {
			return map[bool]action{true: finish, false: nothing}[m.announced]
		}
	case enter:
		return map[bool]action{true: nothing, false: claim}[wanted == gone]
	case announce:
		switch {
		case m.flagged && !p.NoDelete && !m.announcedByOthers:
			return announce
		case m.flagged && p.NoDelete && m.own == leaving:
			return unclaim
		}
		return nothing
	case setFlag:
		if m.flagged {
			return clearKey
		}
		return finish
	case clearFlag:
		return nothing
	case clearKey:
		switch {
		case p.NoDelete && m.own == leaving:
			return unclaim
		case p.NoDelete:
			return finish
		}
	}
	return a
}

// undone is what a pool is in the end, where not all may be done that is wanted.
func undone(p ceph.Pool, u user, wanted wishes) string {
	const reach = "users that the operator made reach it only after the driver's pods were restarted, or an hour, where it is new to them"
	m := read(p, u)
	switch {
	case wanted != gone && m.own == "" && p.NoDelete:
		return "has no claim of this cluster, without which " + reach
	case wanted != gone && m.own == "":
		return "can be removed although it is in use, and " + reach
	case wanted.keeps() && !p.NoDelete:
		return "can be removed although it is in use"
	case wanted == used && p.NoDelete && m.flagged:
		return "keeps its nodelete flag although ceph.poolProtection is Disabled"
	case wanted != gone || m.own == "" && !p.NoDelete:
		return "keeps a note that its nodelete flag is being changed"
	case p.NoDelete:
		return "keeps its nodelete flag although it is no longer in use"
	}
	return "keeps this cluster's claim although it is no longer in use"
}

// refusedAlone says that Ceph has refused to change a pool for a reason of that pool, and none of rights.
func refusedAlone(err error) bool {
	var refused *ceph.CommandError
	return errors.As(err, &refused) && refused.Command != "osd pool ls" &&
		!ceph.NoAnswer(err) && !errors.Is(err, ceph.ErrDenied) && !errors.Is(err, ceph.ErrNotFound)
}

// refusedOne tells of such a refusal, by what became of the pool: of what was sent at once, a part may be written.
func (l *look) refusedOne(ctx context.Context, id int64, want wishes, refusal error) {
	if pools, err := l.client.Pools(ctx); err == nil {
		l.has.Pools = pools
	}
	p, found := byID(l.has.Pools, id)
	if !found || next(p, l.user, want) == nothing {
		return
	}
	reason := condition.SyncError
	if want.keeps() && !p.NoDelete {
		reason = condition.NotProtected
	}
	first, _, _ := strings.Cut(refusal.Error(), "\n")
	l.found.trouble = append(l.found.trouble, trouble{reason, fmt.Sprintf("pool %q of Ceph cluster %s %s: %s%s",
		p.Name, l.cluster.FSID, undone(p, l.user, want), first, makeRoom(p, refusal))})
}

// makeRoom is what to do where a pool has as many keys as Ceph takes; empty where that is not why Ceph refused.
func makeRoom(p ceph.Pool, refusal error) string {
	if !strings.Contains(refusal.Error(), "too many keys") {
		return ""
	}
	pool := shell.Quote(p.Name)
	return fmt.Sprintf("; claims of clusters that are gone use them up: 'ceph osd pool application get %s' shows the keys, and "+
		"'ceph-csi-driver-operator teardown --list --ceph-conf=ceph.conf --keyring=keyring' which clusters still run; "+
		"a teardown of one that is gone takes its keys away, or do it by hand: ceph osd pool application rm %s APPLICATION KEY", pool, pool)
}
