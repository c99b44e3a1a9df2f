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

// mountedAt are the hosts that have mounted a subvolume, or something in it, sorted.
func (p *plan) mountedAt(place ceph.SubvolumePlace) []string {
	return p.mounting(place, func([]string) bool { return true })
}

// snapshotMountedAt are those that have mounted a snapshot of one.
func (p *plan) snapshotMountedAt(place ceph.SubvolumePlace, snapshot string) []string {
	return p.mounting(place, func(path []string) bool {
		shown := slices.Index(path, ceph.SnapshotsDirectory) + 1
		return shown > 0 && shown < len(path) && ceph.SnapshotShown(path[shown]) == snapshot
	})
}

func (p *plan) mounting(place ceph.SubvolumePlace, at func(path []string) bool) []string {
	var hosts []string
	directory := "/volumes/" + cmp.Or(place.Group, "_nogroup") + "/" + place.Name
	for _, c := range p.inventory.clients {
		below, in := strings.CutPrefix(c.Root+"/", directory+"/")
		if in && at(strings.Split(below, "/")) {
			hosts = append(hosts, fmt.Sprintf("%s (%s)", c.Host, c.Entity))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
