package uninstall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// byHand are the commands that release the pools as pools.Release would; none where the pools
// cannot be read.
func byHand(ctx context.Context, client pools.Marker, infraID string) []string {
	all, err := client.Pools(ctx)
	if err != nil {
		return nil
	}
	r := &rehearsal{unsaid: map[place]bool{}}
	for _, p := range all {
		p.Metadata = maps.Clone(p.Metadata)
		for application, keys := range p.Metadata {
			p.Metadata[application] = maps.Clone(keys)
		}
		r.pools = append(r.pools, p)
	}
	if err := pools.Release(ctx, r, infraID, driver.Kinds()...); err != nil {
		return nil
	}
	// Whoever stops in between shall leave no flag that looks like an administrator's.
	flag := func(command string) bool { return strings.HasPrefix(command, "ceph osd pool set ") }
	slices.SortStableFunc(r.commands, func(a, b string) int {
		switch {
		case flag(a) == flag(b):
			return 0
		case flag(a):
			return -1
		}
		return 1
	})
	return r.commands
}

// rehearsal is a Ceph cluster that exists as its list of pools only, and writes down what it is
// told as commands of the ceph tool.
type rehearsal struct {
	mu       sync.Mutex
	pools    []ceph.Pool
	commands []string
	// unsaid are keys that the rehearsal has made only to take them away again: who follows the commands needs none.
	unsaid map[place]bool
}

// place is where a key is.
type place struct{ pool, application, key string }

func (r *rehearsal) Pools(context.Context) ([]ceph.Pool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pools), nil
}

func (r *rehearsal) change(name, command string, change func(*ceph.Pool)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.pools, func(p ceph.Pool) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("pool %q: %w", name, ceph.ErrNotFound)
	}
	change(&r.pools[i])
	if command == "" {
		return nil
	}
	r.commands = append(r.commands, "ceph osd pool "+command)
	return nil
}

func (r *rehearsal) Try(context.Context, ceph.Trial) error { return nil }

func (r *rehearsal) SetNoDelete(_ context.Context, pool string, on bool) error {
	return r.change(pool, fmt.Sprintf("set %s nodelete %t", shell.Quote(pool), on), func(p *ceph.Pool) { p.NoDelete = on })
}

func (r *rehearsal) SetPoolMetadata(_ context.Context, pool, application, key, value string) error {
	command := shell.Command("application", "set", pool, application, key, value)
	passing := driver.IsChange(key) || strings.HasPrefix(key, driver.ClaimPrefix)
	if passing {
		command = ""
	}
	return r.change(pool, command, func(p *ceph.Pool) {
		if _, found := p.Metadata[application][key]; passing && !found {
			r.unsaid[place{pool, application, key}] = true
		}
		if p.Metadata == nil {
			p.Metadata = map[string]map[string]string{}
		}
		p.Metadata[application] = with(p.Metadata[application], key, value)
	})
}

func (r *rehearsal) RemovePoolMetadata(_ context.Context, pool, application, key string) error {
	command := shell.Command("application", "rm", pool, application, key)
	if r.unsaid[place{pool, application, key}] {
		command = ""
	}
	return r.change(pool, command, func(p *ceph.Pool) {
		keys := maps.Clone(p.Metadata[application])
		delete(keys, key)
		p.Metadata[application] = keys
	})
}

func with(keys map[string]string, key, value string) map[string]string {
	out := maps.Clone(keys)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}
