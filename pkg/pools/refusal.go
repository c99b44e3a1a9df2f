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

// without is what is left of an action for a user who may not change the flag: claims, and to take back what was announced,
// after a key that has no flag. A flag that has lost its key in a release stays announced until somebody may clear it: who
// put the key back would do so for ever beside an operator of another cluster that may, and takes it away.
func without(p ceph.Pool, u user, wanted wishes, a action) action {
	m := read(p, u)
	switch a {
	case enter:
		return map[bool]action{true: nothing, false: claim}[wanted == gone]
	case announce:
		if m.flagged && !p.NoDelete {
			return announce
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
		if p.NoDelete {
			return finish
		}
	}
	return a
}
