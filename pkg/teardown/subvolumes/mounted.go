package subvolumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// mounts is who has the filesystem mounted while things are removed from it.
type mounts struct {
	sync.Mutex
	looked time.Time
}

// unmounted fails where a subvolume was mounted since it was decided on: a run over thousands of them
// takes its time, and the mgr removes one under whoever has it mounted. Where the mounts could not be
// seen before, either, somebody has said that it shall go on.
func (r *removal) unmounted(ctx context.Context, place ceph.SubvolumePlace) error {
	r.mounts.Lock()
	defer r.mounts.Unlock()
	if in := &r.plan.inventory; in.blind == "" && r.Clock.Since(r.mounts.looked) > teardown.Freshness {
		err := r.again(ctx, func(ctx context.Context) error {
			mount, err := r.mount(ctx, in.filesystem.Name)
			if err == nil {
				defer mount.Close()
			}
			clients, blind := clientsOf(ctx, mount, err)
			if blind != "" {
				return errors.New("who has the filesystem mounted cannot be seen any more: " + blind)
			}
			in.clients, r.mounts.looked = clients, r.Clock.Now()
			return nil
		})
		if err != nil {
			return err
		}
	}
	if hosts := r.plan.mountedAt(place); len(hosts) > 0 {
		return fmt.Errorf("subvolume %s was mounted meanwhile at %s", place, strings.Join(hosts, ", "))
	}
	return nil
}

// mountedAt are the hosts that have mounted a subvolume, sorted.
func (p *plan) mountedAt(place ceph.SubvolumePlace) []string {
	var hosts []string
	directory := "/volumes/" + cmp.Or(place.Group, "_nogroup") + "/" + place.Name
	for _, c := range p.inventory.clients {
		if c.Root == directory || strings.HasPrefix(c.Root, directory+"/") {
			hosts = append(hosts, fmt.Sprintf("%s (%s)", c.Host, c.Entity))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
