package cephtest

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const minted = "csi-contract.infra"

// mintedCaps are of the form that pkg/driver makes.
var mintedCaps = ceph.Caps{
	Mon: "profile rbd",
	Mgr: ceph.Grants("profile rbd pool=a", "profile rbd pool=b"),
	OSD: ceph.Grants(`profile rbd pool="a b, c"`, "profile rbd pool=a", "profile rbd pool=b"),
}

func testUsers(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	_, err := conn.User(ctx, minted)
	must(t, "get before create", err, ceph.ErrNotFound)
	must(t, "caps before create", conn.SetCaps(ctx, minted, mintedCaps), ceph.ErrNotFound)
	first, err := conn.CreateUser(ctx, minted, mintedCaps, "")
	must(t, "create", err, nil)
	mustUser(t, "created", first, mintedCaps)
	again, err := conn.CreateUser(ctx, minted, mintedCaps, "")
	must(t, "create again", err, nil)
	if again.Key.Reveal() != first.Key.Reveal() || again.Caps != first.Caps {
		t.Error("the second creation gave another user")
	}

	wider := mintedCaps.With(ceph.Caps{Mon: "allow r", OSD: "profile rbd pool=z"})
	_, err = conn.CreateUser(ctx, minted, wider, "")
	mustInvalid(t, "create with other caps", err, first)
	mustInvalid(t, "caps that cannot be parsed", conn.SetCaps(ctx, minted, ceph.Caps{Mon: "allow r", OSD: "profile rbd pool="}), first)
	must(t, "wider caps", conn.SetCaps(ctx, minted, wider), nil)
	now, err := conn.User(ctx, minted)
	must(t, "get", err, nil)
	mustUser(t, "widened", now, wider)
	must(t, "narrower caps", conn.SetCaps(ctx, minted, ceph.Caps{Mon: "allow r"}), nil)
	now, err = conn.User(ctx, minted)
	must(t, "get", err, nil)
	mustUser(t, "every service that is not named is gone", now, ceph.Caps{Mon: "allow r"})

	s.RemoveUser(t, minted)
	_, err = conn.User(ctx, minted)
	must(t, "get after removal", err, ceph.ErrNotFound)
	second, err := conn.CreateUser(ctx, minted, mintedCaps, "")
	must(t, "create after removal", err, nil)
	mustUser(t, "created anew", second, mintedCaps)
	if second.Key.Reveal() == first.Key.Reveal() {
		t.Error("a user made anew has the old key")
	}
}

// testRights checks what users may do who are not the administrator.
// testKeyTypes asks for each type that the cluster says it allows.
func testKeyTypes(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	monmap, err := conn.MonMap(ctx)
	must(t, "monmap", err, nil)
	if !monmap.Keys.Allows(s.Source.Key.Type()) {
		t.Errorf("a key of type %s is accepted, allowed are %v", s.Source.Key.Type(), monmap.Keys.Allowed)
	}
	s.RemoveUser(t, minted)
	for _, kind := range monmap.Keys.Allowed {
		user, err := conn.CreateUser(ctx, minted, mintedCaps, kind)
		must(t, "create", err, nil)
		if user.Key.Type() != kind {
			t.Errorf("created with a key of type %s, want %s", user.Key.Type(), kind)
		}
		rotated, err := conn.RotateKey(ctx, minted, kind)
		must(t, "rotate", err, nil)
		mustUser(t, "rotated", rotated, mintedCaps)
		if rotated.Key.Type() != kind || rotated.Key.Reveal() == user.Key.Reveal() {
			t.Errorf("rotated to a key of type %s, want another one of type %s", rotated.Key.Type(), kind)
		}
		s.RemoveUser(t, minted)
	}
}

func testRights(t *testing.T, s Subject) {
	ctx := t.Context()
	user, err := dial(t, s, s.Source).CreateUser(ctx, minted, mintedCaps, "")
	must(t, "create", err, nil)
	for name, credentials := range map[string]ceph.Credentials{"reader": s.Reader, "minted user": user.Credentials} {
		source := s.Source
		source.Credentials = credentials
		conn := dial(t, s, source)
		_, err := conn.Pools(ctx)
		must(t, name+" lists pools", err, nil)
		_, err = conn.User(ctx, credentials.UserID)
		must(t, name+" reads itself", err, ceph.ErrDenied)
		_, err = conn.User(ctx, "csi-none")
		must(t, name+" reads nobody", err, ceph.ErrDenied)
		_, err = conn.CreateUser(ctx, "csi-evil", mintedCaps, "")
		must(t, name+" creates a user", err, ceph.ErrDenied)
		must(t, name+" changes caps", conn.SetCaps(ctx, minted, ceph.Caps{Mon: "allow *"}), ceph.ErrDenied)
		must(t, name+" creates a pool", conn.CreatePool(ctx, "evil"), ceph.ErrDenied)
	}
	deposed := s.Source
	deposed.Credentials = user.Credentials
	session := dial(t, s, deposed)
	s.RemoveUser(t, minted)
	_, err = session.Pools(ctx)
	must(t, "a session outlives its user", err, nil)
	_, err = s.Dial(ctx, deposed)
	must(t, "dial as a removed user", err, ceph.ErrWrongKey)
}

func mustUser(t *testing.T, what string, got ceph.User, caps ceph.Caps) {
	t.Helper()
	if _, err := ceph.ParseKey(got.Key.Reveal()); err != nil || got.UserID != minted || got.Caps != caps {
		t.Errorf("%s: got user %s with caps %s, want %s with caps %s, and a key (%v)", what, got.UserID, got.Caps, minted, caps, err)
	}
}

// mustInvalid wants Ceph's refusal of an argument, without a key in it.
func mustInvalid(t *testing.T, what string, err error, user ceph.User) {
	t.Helper()
	var refused *ceph.CommandError
	if !errors.As(err, &refused) || refused.Errno != -int(syscall.EINVAL) {
		t.Fatalf("%s: got %v, want errno %d", what, err, -int(syscall.EINVAL))
	}
	if strings.Contains(err.Error(), user.Key.Reveal()) || !strings.Contains(err.Error(), user.Entity()) {
		t.Errorf("%s: the error must name the user and show no key: %v", what, err)
	}
}
