package cephtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Trials are all that Try is asked for; the pool of TryFlatten and TryProtect must exist.
func Trials(pool string) []ceph.Trial {
	return append(ceph.TryUsers("client.contract"),
		ceph.TryGetUser, ceph.TryMakeUser, ceph.TrySetCaps, ceph.TryBlocklist, ceph.TryCreatePool,
		ceph.TryEnableApplication, ceph.TrySetApplication, ceph.TryProtectPool,
		ceph.TryMakeGroup, ceph.TryMakeSubvolume, ceph.TryFlatten(pool), ceph.TryProtect(pool),
	)
}

// Try returns nil when the user may send the command of a trial.
func (c *Client) Try(ctx context.Context, trial ceph.Trial) error {
	err := c.runOn(ctx, trial.Prefix, trial.Arguments["entity"], func(*Cluster) error { return nil })
	if err != nil {
		return fmt.Errorf("trying whether the user may send %q: %w", trial.Prefix, err)
	}
	return nil
}

// ObjectRights tells what the user may do with the objects of a pool.
func (c *Client) ObjectRights(ctx context.Context, pool, namespace string) (rights ceph.ObjectRights, err error) {
	const prefix = "fsid" // which every session may ask for
	err = c.run(ctx, prefix, func(cluster *Cluster) error {
		pools := cluster.listPools()
		i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == pool })
		if i < 0 {
			return refusal("open pool", syscall.ENOENT, "")
		}
		rights = c.rights.objects(pools[i], namespace)
		return nil
	})
	if err != nil {
		return ceph.ObjectRights{}, fmt.Errorf("trying what the user may do in pool %q: %w", pool, err)
	}
	return rights, nil
}

// objects are a user's rights to the objects of a pool, as far as this module's caps go. An OSD
// knows the caps of a session from its ticket, and looks at the pool's metadata with each operation.
func (u user) objects(pool ceph.Pool, namespace string) ceph.ObjectRights {
	var rights ceph.ObjectRights
	for _, grant := range strings.Split(u.caps.OSD, ", ") {
		all := slices.Contains([]string{"allow *", "profile rbd", "profile rbd pool=" + pool.Name}, grant)
		what, tagged := byTag(grant, pool, namespace)
		rights.Write = rights.Write || all || tagged && strings.Contains(what, "w")
		rights.Read = rights.Read || all || tagged || grant == "allow r"
	}
	return rights
}

// byTag reads a grant such as "allow rw namespace=n tag cephfs data=fs", and says whether it is about
// the pool. Ceph parses the namespace in front of the tag only.
func byTag(grant string, pool ceph.Pool, namespace string) (what string, fits bool) {
	words := strings.Fields(grant)
	if len(words) > 2 && words[2] == "namespace="+namespace {
		words = slices.Delete(words, 2, 3)
	}
	if namespace != "" && len(words) == 2 && strings.HasSuffix(grant, " namespace="+namespace) {
		return words[1], words[0] == "allow"
	}
	if len(words) != 5 || words[0] != "allow" || words[2] != "tag" {
		return "", false
	}
	key, value, _ := strings.Cut(words[4], "=")
	has, found := pool.Metadata[words[3]][key]
	return words[1], found && (value == "*" || value == has)
}
