package pools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// stubborn has a Ceph that refuses one command for one pool, as it does for reasons that are none of rights.
type stubborn struct {
	Cluster
	pool, command string
}

func (s stubborn) refuse(command, pool string) error {
	if pool != s.pool || command != s.command {
		return nil
	}
	return fmt.Errorf("changing pool %q: %w", pool, &ceph.CommandError{Command: command, Errno: -int(syscall.EBUSY), Status: "it is busy"})
}

func (s stubborn) SetNoDelete(ctx context.Context, pool string, on bool) error {
	if err := s.refuse(setsFlags, pool); err != nil {
		return err
	}
	return s.Cluster.SetNoDelete(ctx, pool, on)
}

func (s stubborn) SetPoolMetadata(ctx context.Context, pool, application, key, value string) error {
	if err := s.refuse(setsKeys, pool); err != nil {
		return err
	}
	return s.Cluster.SetPoolMetadata(ctx, pool, application, key, value)
}

func (s stubborn) RemovePoolMetadata(ctx context.Context, pool, application, key string) error {
	if err := s.refuse(removesKeys, pool); err != nil {
		return err
	}
	return s.Cluster.RemovePoolMetadata(ctx, pool, application, key)
}

// TestRefusalOfOnePool: what Ceph refuses of one pool is that pool's trouble. Those after it are protected and
// released all the same, and it is not called protected.
func TestRefusalOfOnePool(t *testing.T) {
	tests := map[string]struct {
		reason string
		// refused is a command that Ceph refuses for pool a, keys are what lost clusters have left there.
		refused string
		keys    int
		// texts are in the message of the condition, which has reason why; protected says whether pool a is in the end.
		texts     []string
		protected bool
		why       string
	}{
		"Claim":        {"neither claim nor flag", setsKeys, 0, []string{`pool "a" of Ceph cluster`, "can be removed although it is in use, and users", "it is busy"}, false, condition.NotProtected},
		"Flag":         {"the claim alone is there", setsFlags, 0, []string{`pool "a" of Ceph cluster`, "can be removed although it is in use: ", "it is busy"}, false, condition.NotProtected},
		"Announcement": {"all is there that is wanted, and more", removesKeys, 0, []string{`pool "a" of Ceph cluster`, "keeps a note that its nodelete flag is being changed: ", "it is busy"}, true, condition.SyncError},
		"NoKeyLeft": {"there is no room for the claim", "", cephtest.MostKeys, []string{
			"can be removed although it is in use, and users", "too many keys set for application 'rbd' on pool 'a'; max 64",
			"claims of clusters that are gone use them up", "teardown --list", "ceph osd pool application get a", "ceph osd pool application rm a APPLICATION KEY",
		}, false, condition.NotProtected},
		"OneKeyLeft":  {"there is room for the claim or its announcement", "", cephtest.MostKeys - 1, []string{"can be removed although it is in use", "too many keys"}, false, condition.NotProtected},
		"TwoKeysLeft": {"there is none for the flag's key", "", cephtest.MostKeys - 2, []string{"keeps a note that its nodelete flag is being changed: ", "too many keys"}, true, condition.SyncError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD)
			for _, pool := range []string{"a", "b", "c"} {
				r.ceph.AddPool(ceph.Pool{Name: pool, Applications: []string{"rbd"}})
			}
			r.use(t, classes(class(driver.RBD, "c", "pool", "c")))
			for i := range tc.keys {
				r.ceph.SetPoolMetadata("a", "rbd", driver.ClaimKey(fmt.Sprintf("lost-%d", i), "rbd"), driver.ClaimInUse)
			}
			r.client = stubborn{r.client, "a", tc.refused}
			inUse := classes(class(driver.RBD, "a", "pool", "a"), class(driver.RBD, "b", "pool", "b"))
			r.use(t, inUse)
			protected, unprotected := []string{"b"}, []string{"a"}
			if tc.protected {
				protected, unprotected = []string{"a", "b"}, nil
			}
			r.expectFlagged(t, tc.reason+"; b was taken into use, and c was left", protected...)
			r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, tc.why, tc.texts...)
			report, _ := r.controller.Report.Get()
			if !slices.Equal(report.Protected[cephtest.FSID], protected) || !slices.Equal(report.Unprotected[cephtest.FSID], unprotected) {
				t.Errorf("%s: reported as protected %q and unprotected %q", tc.reason, report.Protected, report.Unprotected)
			}
			if used, _ := r.controller.Used.Get(); !slices.Equal(used[cephtest.FSID], []string{"a", "b"}) {
				t.Errorf("%s: in use %q", tc.reason, used)
			}

			r.client = r.client.(stubborn).Cluster
			for i := range min(tc.keys, 3) {
				r.forget(t, "a", driver.ClaimKey(fmt.Sprintf("lost-%d", i), "rbd"))
			}
			r.use(t, inUse)
			r.expectFlagged(t, "once Ceph does not refuse it", "a", "b")
			r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
		})
	}
}

// forget is what an administrator does to the claim of a lost cluster.
func (r *careRig) forget(t *testing.T, pool, key string) {
	t.Helper()
	if err := r.client.RemovePoolMetadata(t.Context(), pool, "rbd", key); err != nil {
		t.Fatal(err)
	}
}

// TestRefusalOfTheList: what Ceph says of no pool in particular is told once.
func TestRefusalOfTheList(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	for _, pool := range []string{"a", "b"} {
		r.ceph.AddPool(ceph.Pool{Name: pool, Applications: []string{"rbd"}})
	}
	r.client = &unlisted{Cluster: r.client, lists: 1}
	r.use(t, classes(class(driver.RBD, "a", "pool", "a"), class(driver.RBD, "b", "pool", "b")))
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.SyncError, "not now")
	if text := r.operator.Condition(condition.PoolsProtected).Message; strings.Count(text, "not now") != 1 {
		t.Errorf("message %q", text)
	}
	if used, _ := r.controller.Used.Get(); !slices.Equal(used[cephtest.FSID], []string{"a", "b"}) {
		t.Errorf("pools in use are %q: they do not stop being so because Ceph lists none", used)
	}
}

// unlisted has a Ceph that lists pools some times only.
type unlisted struct {
	Cluster
	lists int
}

func (u *unlisted) Pools(ctx context.Context) ([]ceph.Pool, error) {
	if u.lists--; u.lists < 0 {
		return nil, fmt.Errorf("listing pools: %w", &ceph.CommandError{Command: "osd pool ls", Errno: -int(syscall.EBUSY), Status: "not now"})
	}
	return u.Cluster.Pools(ctx)
}

// TestReleaseRefused: an uninstallation leaves what Ceph refuses, and nothing else.
func TestReleaseRefused(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.marks(true, claimed(driver.ProtectionKey))
	err := Release(t.Context(), stubborn{r.client, "p", setsFlags}, "infra", "rbd")
	if err == nil || !strings.Contains(err.Error(), `releasing pool "p"`) {
		t.Errorf("got %v", err)
	}
	r.expectFlagged(t, "q is done all the same", "p")
	if err := Release(t.Context(), r.client, "infra", "rbd"); err != nil {
		t.Error(err)
	}
	r.expectMarks(t, "once Ceph does not refuse it", false, nil)
}
