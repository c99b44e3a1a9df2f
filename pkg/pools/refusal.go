package pools

import (
	"context"
	"errors"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
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
