package pools

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
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
	do := func(user string, wanted bool, writes int, wantFlag bool, wantKeys ...string) {
		t.Helper()
		before := 0
		for _, n := range c.Writes() {
			before += n
		}
		pools, err := mark(t.Context(), client, c.Pools(), 1, user, wanted)
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
	const claim, a, b = "cephfs:" + claimKey, "cephfs:" + userPrefix + "a.rbd", "cephfs:" + userPrefix + "b.rbd"
	do(operators[0], true, 3, true, claim, a)
	do(operators[0], true, 0, true, claim, a)
	do(operators[1], true, 1, true, claim, a, b)
	do(operators[0], false, 1, true, claim, b)
	do(operators[0], false, 0, true, claim, b)
	c.RenamePool("p", "q")
	c.RenamePool("q", "p")
	do(operators[1], false, 3, false)
	do(operators[1], false, 0, false)

	c.SetNoDelete("p", true)
	do(operators[0], true, 0, true)
	do(operators[0], false, 0, true)
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
			if _, err := mark(t.Context(), client, c.Pools(), int64(i+1), userKey(u[0], u[1]), true); err != nil {
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
