package pools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var errKilled = errors.New("killed")

// dying ends, as a process that is killed, before one of its writes.
type dying struct {
	Marker
	mu    sync.Mutex
	left  int
	wrote []string
}

func (d *dying) write(what string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left < 0 {
		return errKilled
	}
	d.wrote = append(d.wrote, what)
	return do()
}

func (d *dying) SetNoDelete(ctx context.Context, pool string, on bool) error {
	return d.write(fmt.Sprintf("flag %t", on), func() error { return d.Marker.SetNoDelete(ctx, pool, on) })
}

func (d *dying) SetPoolMetadata(ctx context.Context, pool, application, key, value string) error {
	return d.write("set "+key, func() error { return d.Marker.SetPoolMetadata(ctx, pool, application, key, value) })
}

func (d *dying) RemovePoolMetadata(ctx context.Context, pool, application, key string) error {
	return d.write("rm "+key, func() error { return d.Marker.RemovePoolMetadata(ctx, pool, application, key) })
}

// TestKilledBetweenClaimAndFlag: whatever was written, a pool in use has its claim before it has the
// flag and as long as it has it, and the next process finishes: it takes no half of a change for an
// administrator's. Nor is the key there without the flag, so that an administrator's would pass for an operator's.
func TestKilledBetweenClaimAndFlag(t *testing.T) {
	u := operators[0]
	for _, wanted := range []wishes{kept, held} {
		for writes := range 7 {
			c := cephtest.New()
			c.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
			client, err := c.Dial(t.Context(), c.Source())
			if err != nil {
				t.Fatal(err)
			}
			finish := func(wanted wishes) ceph.Pool {
				t.Helper()
				if _, err := mark(t.Context(), client, c.Pools(), 1, u, wanted); err != nil {
					t.Fatal(err)
				}
				return c.Pools()[0]
			}
			killed := &dying{Marker: client, left: writes}
			_, err = mark(t.Context(), killed, c.Pools(), 1, u, wanted)
			p := c.Pools()[0]
			if m := read(p, u); writes < 5 && !errors.Is(err, errKilled) || p.NoDelete && m.own == "" || m.flagged && !p.NoDelete {
				t.Errorf("after %q, %v: flag without claim, or key without flag: %+v", killed.wrote, err, p)
			}
			if p = finish(wanted); !p.NoDelete || !read(p, u).flagged || read(p, u).announced || read(p, u).own != wanted.value() {
				t.Errorf("after %q the next process leaves %+v", killed.wrote, p)
			}

			killed = &dying{Marker: client, left: writes}
			_, err = mark(t.Context(), killed, c.Pools(), 1, u, gone)
			p = c.Pools()[0]
			if m := read(p, u); writes < 6 && !errors.Is(err, errKilled) || p.NoDelete && m.own == "" || m.flagged && !p.NoDelete {
				t.Errorf("after %q, %v: the claim went before the flag, or the flag before its key: %+v", killed.wrote, err, p)
			}
			if p = finish(gone); p.NoDelete || len(p.Metadata["rbd"]) > 0 {
				t.Errorf("after %q the next process leaves %+v", killed.wrote, p)
			}
		}
	}
}

// TestHalfDenied: where Ceph takes one of the writes that belong together and refuses another, the flag
// stays an operator's, and goes as soon as it may.
func TestHalfDenied(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	allow := func(denied ...string) {
		r.ceph.Deny("u", denied...)
		r.connect(t)
	}
	inUse := classes(class(driver.RBD, "c", "pool", "p"))
	r.use(t, inUse)
	r.expectFlagged(t, "in use", "p")
	allow("osd pool set")
	r.use(t, nil)
	r.expectFlagged(t, "the flag may not be taken away", "p")
	allow()
	r.later(t)
	r.expectFlagged(t, "it may")
	if _, keys := marked(t, r.ceph, "p"); len(keys) > 0 {
		t.Errorf("keys are left: %q", keys)
	}
	r.use(t, inUse)
	allow("osd pool application rm")
	r.use(t, nil)
	allow()
	r.later(t)
	r.expectFlagged(t, "keys may be taken away again")
	if _, keys := marked(t, r.ceph, "p"); len(keys) > 0 {
		t.Errorf("keys are left: %q", keys)
	}
}
