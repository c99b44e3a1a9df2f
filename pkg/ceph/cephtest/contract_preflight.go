package cephtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Preflight is the part of a Connection that looks around and changes nothing.
type Preflight interface {
	Versions(ctx context.Context) (ceph.Versions, error)
	Quorum(ctx context.Context) ([]string, error)
	Clocks(ctx context.Context) ([]ceph.Clock, error)
	Capacities(ctx context.Context) ([]ceph.Capacity, error)
	ClientOption(ctx context.Context, name string) (string, error)
	FilesystemPools(ctx context.Context) ([]ceph.FilesystemPools, error)
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
	Try(ctx context.Context, trial ceph.Trial) error
	ObjectRights(ctx context.Context, pool, namespace string) (ceph.ObjectRights, error)
}

// as connects as another user than the one who may do everything.
func as(t *testing.T, s Subject, user ceph.Credentials) Connection {
	t.Helper()
	source := s.Source
	source.Credentials = user
	return dial(t, s, source)
}

func testOverview(t *testing.T, s Subject) {
	for name, user := range map[string]ceph.Credentials{"administrator": s.Source.Credentials, "reader": s.Reader} {
		ctx, conn := t.Context(), as(t, s, user)
		version, err := conn.Version(ctx)
		must(t, name+": version", err, nil)
		versions, err := conn.Versions(ctx)
		must(t, name+": versions", err, nil)
		if versions["mon"][version] == 0 || versions["osd"][version] == 0 || !slices.Equal(versions.Releases(), []string{version}) {
			t.Errorf("%s: versions are %v, the mon's is %s", name, versions, version)
		}
		m, err := conn.MonMap(ctx)
		must(t, name+": monmap", err, nil)
		quorum, err := conn.Quorum(ctx)
		must(t, name+": quorum", err, nil)
		if len(quorum) != len(m.Mons) || quorum[0] != m.Mons[0].Name {
			t.Errorf("%s: quorum %v of %+v", name, quorum, m.Mons)
		}
		clocks, err := conn.Clocks(ctx)
		must(t, name+": clocks", err, nil)
		for _, c := range clocks {
			if !c.OK || !slices.Contains(quorum, c.Mon) {
				t.Errorf("%s: clock of one and the same machine: %+v", name, c)
			}
		}
		option, err := conn.ClientOption(ctx, "rbd_default_data_pool")
		must(t, name+": option", err, nil)
		if option != "" {
			t.Errorf("%s: an option that nobody has set is %q", name, option)
		}
		pools, err := conn.Pools(ctx)
		must(t, name+": pools", err, nil)
		capacities, err := conn.Capacities(ctx)
		must(t, name+": capacities", err, nil)
		for _, c := range capacities {
			same := func(p ceph.Pool) bool { return p.ID == c.PoolID && p.Name == c.Pool }
			if c.Available == 0 || !slices.ContainsFunc(pools, same) {
				t.Errorf("%s: capacity %+v of an empty Ceph, pools are %+v", name, c, pools)
			}
		}
		if len(capacities) == 0 {
			t.Errorf("%s: no pool has a capacity", name)
		}
		groups, err := conn.SubvolumeGroups(ctx, s.Active)
		must(t, name+": groups", err, nil)
		if !slices.Contains(groups, "csi") {
			t.Errorf("%s: groups of %s are %v", name, s.Active, groups)
		}
	}
}

func testTrials(t *testing.T, s Subject) {
	ctx, admin := t.Context(), dial(t, s, s.Source)
	reader := as(t, s, s.Reader)
	before, err := admin.Pools(ctx)
	must(t, "pools", err, nil)
	for _, trial := range Trials("contract") {
		err := admin.Try(ctx, trial)
		if errors.Is(err, ceph.ErrNoCommand) && slices.Contains([]string{"auth rotate", "auth get-or-create-pending"}, trial.Prefix) {
			continue // This Ceph is older than they are.
		}
		must(t, "administrator: "+trial.Prefix, err, nil)
		must(t, "reader: "+trial.Prefix, reader.Try(ctx, trial), ceph.ErrDenied)
	}
	after, err := admin.Pools(ctx)
	must(t, "pools", err, nil)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("trying changed the pools (-before +after)\n%s", diff)
	}
	for _, id := range []string{"csi-rights-check", "contract-csi-rights-check"} {
		_, err := admin.User(ctx, id)
		must(t, "user of the trials", err, ceph.ErrNotFound)
	}
}

func testObjectRights(t *testing.T, s Subject) {
	ctx, admin, reader := t.Context(), dial(t, s, s.Source), as(t, s, s.Reader)
	pools := filesystemPoolsOf(ctx, t, admin, s.Active)
	for _, pool := range []string{"contract", pools.Metadata, pools.Data[0]} {
		for _, namespace := range []string{"", "csi"} {
			rights, err := admin.ObjectRights(ctx, pool, namespace)
			must(t, "administrator in "+pool, err, nil)
			if !rights.Read || !rights.Write {
				t.Errorf("administrator in %s: %+v", pool, rights)
			}
			rights, err = reader.ObjectRights(ctx, pool, namespace)
			must(t, "reader in "+pool, err, nil)
			if rights.Read || rights.Write {
				t.Errorf("a user without caps for OSDs in %s: %+v", pool, rights)
			}
		}
	}
	_, err := admin.ObjectRights(ctx, "none", "")
	must(t, "pool that is not there", err, ceph.ErrNotFound)
}
