package cephtest

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const watchedObject = "running.infra-1.rbd"

// testWatches uses the pool that testPools made.
func testWatches(t *testing.T, s Subject) {
	ctx, one, other := t.Context(), dial(t, s, s.Source), dial(t, s, s.Source)
	watch := func(conn Connection, name, answer string) ceph.Watch {
		t.Helper()
		w, err := conn.Watch(ctx, "contract", name, []byte(answer), true)
		must(t, "watch", err, nil)
		t.Cleanup(w.End)
		must(t, "a new watch", w.Lost(), nil)
		return w
	}
	if net.ParseIP(one.ClientAddress()) == nil {
		t.Errorf("the client's address is %q", one.ClientAddress())
	}
	watchers(t, "an object that is missing", one, watchedObject)
	first := watch(one, watchedObject, "one")
	watch(one, watchedObject+".b", "")
	watchers(t, "seen by itself", one, watchedObject, "one")
	watchers(t, "of one only", other, watchedObject, "one")
	watchers(t, "without an answer's words", other, watchedObject+".b", "")
	watch(other, watchedObject, "other")
	watchers(t, "of both", one, watchedObject, "one", "other")
	first.End()
	first.End()
	if first.Lost() == nil {
		t.Error("a watch that was ended is held")
	}
	watchers(t, "after an end", one, watchedObject, "other")
	other.Close()
	watchers(t, "after a session's end", one, watchedObject)

	before := lastWatched(t, one, watchedObject)
	if age := time.Since(before); age < -time.Minute || age > time.Hour {
		t.Errorf("the object is from %s", before)
	}
	again, err := one.Watch(ctx, "contract", watchedObject, []byte("again"), false)
	must(t, "an object that was left", err, nil)
	t.Cleanup(again.End)
	if at := lastWatched(t, one, watchedObject); !at.Equal(before) {
		t.Errorf("who may not make the object has written it at %s", at)
	}
	for written := before; !written.After(before) && ctx.Err() == nil; written = lastWatched(t, one, watchedObject) {
		anew := watch(one, watchedObject, "anew")
		watchers(t, "two watches of one", one, watchedObject, "again", "anew")
		anew.End()
	}
	watchers(t, "again", one, watchedObject, "again")
	for range 2 {
		must(t, "remove", one.RemoveWatched(ctx, "contract", watchedObject), nil)
	}
	patient, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for again.Lost() == nil && patient.Err() == nil {
		watchers(t, "a removed object", one, watchedObject)
	}
	if again.Lost() == nil {
		t.Error("who watched an object does not learn that it was removed")
	}
}

func lastWatched(t *testing.T, conn Connection, name string) time.Time {
	t.Helper()
	at, err := conn.LastWatched(t.Context(), "contract", name)
	must(t, "last watched", err, nil)
	return at
}

// watchers wants these answers.
func watchers(t *testing.T, what string, conn Connection, name string, want ...string) {
	t.Helper()
	found, err := conn.Watchers(t.Context(), "contract", name)
	must(t, what, err, nil)
	var answers []string
	for _, w := range found {
		answers = append(answers, string(w.Answer))
		if w.Silent || w.Client == 0 {
			t.Errorf("%s: %+v", what, w)
		}
	}
	if slices.Sort(answers); !slices.Equal(answers, want) {
		t.Errorf("%s: got %v, want %v", what, answers, want)
	}
}

// testNoWatches is what nobody can watch.
func testNoWatches(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	_, err := conn.Watch(ctx, "contract", watchedObject, nil, false)
	must(t, "a missing object", err, ceph.ErrNotFound)
	_, err = conn.LastWatched(ctx, "contract", watchedObject)
	must(t, "the time of a missing object", err, ceph.ErrNotFound)
	_, err = conn.Watch(ctx, "none", watchedObject, nil, true)
	must(t, "a missing pool", err, ceph.ErrNotFound)
	_, err = conn.Watchers(ctx, "none", watchedObject)
	must(t, "asking in a missing pool", err, ceph.ErrNotFound)
	reader := ceph.Caps{Mon: "allow r", OSD: "allow r"}
	user, err := conn.CreateUser(ctx, minted, reader, "")
	must(t, "create", err, nil)
	_, err = as(t, s, user.Credentials).Watch(ctx, "contract", watchedObject, nil, true)
	must(t, "a user who may not write", err, ceph.ErrDenied)

	// What condition PresenceShown asks for is enough.
	must(t, "caps", conn.SetCaps(ctx, minted, ceph.Caps{Mon: "allow r", OSD: "allow rw namespace=" + ceph.PresenceNamespace}), nil)
	limited := as(t, s, user.Credentials)
	w, err := limited.Watch(ctx, "contract", watchedObject, []byte("limited"), true)
	must(t, "a user who may write there", err, nil)
	watchers(t, "by a user who may write there", limited, watchedObject, "limited")
	w.End()
	must(t, "remove", limited.RemoveWatched(ctx, "contract", watchedObject), nil)
	s.RemoveUser(t, minted)
}
