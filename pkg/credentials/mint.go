package credentials

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// question is what Ceph is asked for. The same one is not put again before repeatAfter, unless Ceph has refused it for a moment.
type question struct {
	mode     driver.CredentialsMode
	fsid     string
	infraID  string
	operator ceph.Credentials
	// keyType is the setting, keys what the Ceph cluster allows.
	keyType  ceph.KeyType
	keys     ceph.KeyTypes
	places   []driver.Used
	complete bool
}

// ask words the question. In mode Passthrough, Ceph has nothing to say.
func ask(in input) question {
	q := question{mode: in.mode, fsid: in.cluster.FSID, operator: in.cluster.Credentials}
	if in.mode != driver.CredentialsPassthrough {
		q.infraID, q.places, q.complete = in.infraID, in.places, in.complete
		q.keyType, q.keys = in.keyType, in.cluster.MonMap.Keys
	}
	return q
}

// answer is what Ceph said last; given says that there was one.
type answer struct {
	given    bool
	question question
	at       time.Time
	made
	// err is Ceph's refusal.
	err error
	// passedOn says that the driver gets the operator's user, which may not make others.
	passedOn bool
}

// made are users as Ceph has them.
type made struct {
	// users are by their Secrets; the last good ones after an error.
	users map[string]ceph.Credentials
	// leftOut are names of places that no caps can carry.
	leftOut []string
	// wide says that users have more caps than they are known to need.
	wide bool
	// unsearched says that nobody could look for volumes that Kubernetes does not know.
	unsearched bool
}

// serves says whether the answer is about the users that the question is about.
func (a answer) serves(q question) bool {
	return a.given && a.question.mode == q.mode && a.question.fsid == q.fsid && a.question.infraID == q.infraID
}

// covers says whether the answer is about everything in the question. Where nothing can be
// made, it does not matter for which places.
func (a answer) covers(q question) bool {
	if a.passedOn {
		q.places, q.complete = a.question.places, a.question.complete
	}
	return a.given && reflect.DeepEqual(a.question, q)
}

// due says whether a question is to be put now, or after how long it is.
func (a answer) due(q question, now time.Time) (bool, time.Duration) {
	pause := repeatAfter
	switch {
	case a.passedOn:
		pause = retryDenied
	case refusedForNow(a.err):
		pause = retryOutage
	case a.unsearched:
		pause = retrySearch
	}
	left := pause - now.Sub(a.at)
	return left <= 0 || !a.covers(q), left
}

// put has Ceph make or correct the users, and returns when to come again. Without an answer,
// the last one stays.
func (c *Controller) put(ctx context.Context, in input, q question) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	next := answer{given: true, question: q}
	if in.mode != driver.CredentialsPassthrough {
		next.made, next.err = c.mint(ctx, in)
	}
	if ceph.NoAnswer(next.err) {
		return retryOutage
	}
	next.at = c.Clock.Now()
	next.passedOn = in.mode == driver.CredentialsPassthrough || passesOn(in, next.err)
	if next.err != nil && c.last.serves(q) {
		next.users = c.last.users
	}
	c.last = next
	_, wait := next.due(q, next.at)
	return wait
}

// mint makes both users as they should be. Where the live connection may not, a new one may: the
// caps of a session are those that its user had when it began.
func (c *Controller) mint(ctx context.Context, in input) (made, error) {
	live, connected := c.Live(in.cluster.FSID)
	if !connected {
		return made{}, ceph.ErrClosed
	}
	users, err := c.ensureAll(ctx, live, in)
	askedBefore := c.last.question.operator == in.cluster.Credentials
	if !errors.Is(err, ceph.ErrDenied) || !askedBefore {
		return users, inPart(ctx, live, in, err)
	}
	session, dialErr := c.Dial(ctx, ceph.Source{
		Monitors: in.cluster.MonMap.MonHost(), FSID: in.cluster.FSID, Credentials: in.cluster.Credentials,
	})
	if dialErr != nil {
		return made{}, inPart(ctx, live, in, err)
	}
	defer session.Close()
	users, err = c.ensureAll(ctx, session, in)
	return users, inPart(ctx, session, in, err)
}

// ensureAll returns the users as they are then. The controllers' user comes first: they act first on
// a new class.
func (c *Controller) ensureAll(ctx context.Context, cluster Ceph, in input) (made, error) {
	claim, unsearched := driver.ClaimKey(in.infraID, c.Driver.Kind), false
	has, err := c.Driver.Inventory(ctx, cluster)
	if err != nil && in.complete {
		return made{}, err
	}
	if err == nil { // Where only names are known, none of them is known to be a mistake.
		in.places = c.meant(has, in.places)
	}
	if in.complete {
		known := c.known(ctx, cluster, has, claim, in)
		in.places, in.complete, unsearched = append(in.places, known.places...), known.complete, known.failed
	}
	caps, err := c.Driver.Rights.Caps(ctx, cluster, claim, in.places)
	if err != nil {
		return made{}, err
	}
	kind, err := chooseKey(c.Driver, in)
	if err != nil {
		return made{}, err
	}
	out := made{users: map[string]ceph.Credentials{}, leftOut: caps.LeftOut, unsearched: unsearched}
	for _, wish := range []struct {
		secret, id string
		caps       ceph.Caps
	}{
		{c.Driver.ProvisionerSecret(), c.Driver.ProvisionerUser(in.infraID), caps.Provisioner},
		{c.Driver.NodeSecret(), c.Driver.NodeUser(in.infraID), caps.Node},
	} {
		user, err := c.ensure(ctx, cluster, wish.id, wish.caps, kind, in)
		if err != nil {
			return made{}, err
		}
		out.users[wish.secret], out.wide = user.Credentials, out.wide || user.Caps != wish.caps
	}
	return out, nil
}

// ensure reads first and writes on a difference only. The key is last: without its caps, nobody lets a user in to try it.
func (c *Controller) ensure(ctx context.Context, cluster Ceph, id string, caps ceph.Caps, kind ceph.KeyType, in input) (ceph.User, error) {
	user, err := cluster.User(ctx, id)
	if errors.Is(err, ceph.ErrNotFound) {
		if user, err = cluster.CreateUser(ctx, id, caps, kind); err == nil {
			c.Recorder.Eventf("CephUserCreated", "Created Ceph user %s for %s", user.Entity(), c.Driver.Name)
		}
		if mend := c.strengthen(in, kind, err); mend != "" {
			// Not as ErrDenied: that nobody may make such keys says nothing of the operator's rights.
			err = fmt.Errorf("%v%s", err, mend)
		}
	}
	if err != nil {
		return ceph.User{}, err
	}
	if user.Caps, err = c.ensureCaps(ctx, cluster, user, caps, in); err != nil {
		return ceph.User{}, err
	}
	turns, err := c.turns(ctx, user, kind, in)
	if err != nil || !turns {
		return user, err
	}
	return c.turn(ctx, cluster, user, kind, in)
}

// ensureCaps returns the caps that a user has then. Unless they are complete, those that the user has stay.
func (c *Controller) ensureCaps(ctx context.Context, cluster Ceph, user ceph.User, caps ceph.Caps, in input) (ceph.Caps, error) {
	at := [2]string{in.cluster.FSID, user.UserID}
	if !in.complete {
		caps = c.given(at, user.Caps).With(caps)
	}
	if user.Caps != caps {
		if err := cluster.SetCaps(ctx, user.UserID, caps); err != nil {
			return ceph.Caps{}, err
		}
		c.Recorder.Eventf("CephUserCapsChanged", "Changed the caps of Ceph user %s to what classes and volumes of %s need", user.Entity(), c.Driver.Name)
	}
	c.caps[at] = caps
	return caps, nil
}

// given are the caps that a user has from this operator. What others have made of them since needs no
// proof to be undone.
func (c *Controller) given(at [2]string, now ceph.Caps) ceph.Caps {
	if before, known := c.caps[at]; known {
		return before
	}
	return now
}

// mayNotMint says that Ceph refuses the commands by which users are made. That others are refused
// says nothing of these.
func mayNotMint(err error) bool {
	var refused *ceph.CommandError
	return errors.Is(err, ceph.ErrDenied) && !errors.Is(err, errInPart) && errors.As(err, &refused) &&
		slices.Contains([]string{"auth get", "auth get-or-create"}, refused.Command)
}

// errInPart is beside a refusal of one of the commands by which users are made, where others are allowed: whoever may make
// users, change their caps or read their keys can do anything to Ceph, and such a key is not passed on to every node.
var errInPart = errors.New("that is a part of what rules over users, and the rest is missing")

// inPart adds errInPart to an error where that holds, or what keeps one from knowing it, where the key would be passed on.
func inPart(ctx context.Context, cluster Ceph, in input, err error) error {
	if !passesOn(in, err) {
		return err
	}
	command, tried := driver.PowerOverUsers(ctx, cluster.Try, in.cluster.Credentials)
	switch {
	case tried != nil:
		return tried
	case command != "":
		return fmt.Errorf("%w; it may send %q, and %w", err, command, errInPart)
	}
	return err
}

// passesOn says whether an error leaves the driver with the operator's user.
func passesOn(in input, err error) bool {
	return in.mode == driver.CredentialsAuto && !in.minted && mayNotMint(err)
}

// refusedForNow says that Ceph will do later what it has refused.
func refusedForNow(err error) bool {
	errno := ceph.Errno(err)
	return errno == syscall.EAGAIN || errno == syscall.EBUSY
}
