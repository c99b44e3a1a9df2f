package pools

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// marked is what a client sees of a pool.
func marked(t *testing.T, c *cephtest.Cluster, name string) (flag bool, keys []string) {
	t.Helper()
	for _, p := range c.Pools() {
		if p.Name != name {
			continue
		}
		for application, all := range p.Metadata {
			for key := range all {
				keys = append(keys, application+":"+key)
			}
		}
		slices.Sort(keys)
		return p.NoDelete, keys
	}
	t.Fatalf("no pool %q", name)
	return false, nil
}

func TestMark(t *testing.T) {
	c := cephtest.New()
	c.AddPool(ceph.Pool{Name: "p", Applications: []string{"cephfs", "rbd"}})
	client, err := c.Dial(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	do := func(u user, wanted wishes, writes int, wantFlag bool, wantKeys ...string) {
		t.Helper()
		before := 0
		for _, n := range c.Writes() {
			before += n
		}
		pools, err := mark(t.Context(), client, c.Pools(), 1, u, wanted)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Pools(), pools); diff != "" {
			t.Errorf("not read again (-want +got)\n%s", diff)
		}
		after := 0
		for _, n := range c.Writes() {
			after += n
		}
		flag, keys := marked(t, c, "p")
		if flag != wantFlag || !slices.Equal(keys, wantKeys) || after-before != writes {
			t.Errorf("got flag %t, keys %q with %d writes, want %t, %q with %d", flag, keys, after-before, wantFlag, wantKeys, writes)
		}
	}
	const flag, a, b = "cephfs:" + driver.ProtectionKey, "rbd:" + driver.ClaimPrefix + "a.rbd", "rbd:" + driver.ClaimPrefix + "b.rbd"
	do(operators[0], kept, 5, true, flag, a)
	do(operators[0], kept, 0, true, flag, a)
	do(operators[1], kept, 1, true, flag, a, b)
	do(operators[0], gone, 1, true, flag, b)
	do(operators[0], gone, 0, true, flag, b)
	c.RenamePool("p", "q")
	c.RenamePool("q", "p")
	do(operators[0], used, 1, true, flag, a, b)
	do(operators[1], gone, 6, false, a)
	do(operators[1], gone, 0, false, a)
	do(operators[0], kept, 5, true, flag, a)
	do(operators[0], used, 5, false, a)
	do(operators[0], gone, 1, false)

	c.SetNoDelete("p", true)
	do(operators[0], kept, 1, true, a)
	do(operators[0], kept, 0, true, a)
	do(operators[0], gone, 1, true)
}

// TestOlderClaims: they may be where no right looks, and lack the flag.
func TestOlderClaims(t *testing.T) {
	c := cephtest.New()
	key := operators[0].key()
	c.AddPool(ceph.Pool{Name: "p", Applications: []string{"cephfs", "rbd"}, Metadata: map[string]map[string]string{"cephfs": {key: "in-use"}}})
	client, err := c.Dial(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mark(t.Context(), client, c.Pools(), 1, operators[0], kept); err != nil {
		t.Fatal(err)
	}
	if got := c.Pools()[0].Metadata["rbd"][key]; got != driver.ClaimInUse {
		t.Errorf("the claim gives no right: %q", got)
	}
	if _, err := mark(t.Context(), client, c.Pools(), 1, operators[0], gone); err != nil {
		t.Fatal(err)
	}
	if flag, keys := marked(t, c, "p"); flag || len(keys) > 0 {
		t.Errorf("left are flag %t, keys %q", flag, keys)
	}
}

func TestRelease(t *testing.T) {
	c := cephtest.New()
	client, err := c.Dial(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	users := [][2]string{{"a", "rbd"}, {"a", "cephfs"}, {"b", "rbd"}}
	for i, name := range []string{"shared", "ours", "foreign"} {
		c.AddPool(ceph.Pool{Name: name, Applications: []string{"rbd"}})
		for j, u := range users {
			if i == 1 && j == 2 || i == 2 && j < 2 {
				continue
			}
			if _, err := mark(t.Context(), client, c.Pools(), int64(i+1), user{u[0], u[1]}, kept); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Release(t.Context(), client, "a", "rbd", "cephfs"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"shared", "ours", "foreign"} {
		flag, keys := marked(t, c, name)
		got[name] = fmt.Sprint(flag, len(keys))
	}
	if diff := cmp.Diff(map[string]string{"shared": "true 2", "ours": "false 0", "foreign": "true 2"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
