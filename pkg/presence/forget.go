package presence

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Remover removes what is watched.
type Remover interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	RemoveWatched(ctx context.Context, pool, object string) error
}

// Forget removes the objects of drivers of a cluster from all pools, for its uninstallation or teardown.
// Pools in which the user may do nothing have none.
func Forget(ctx context.Context, client Remover, infraID string, kinds ...string) error {
	pools, err := client.Pools(ctx)
	if err != nil {
		return err
	}
	// At the same time: each pool that is out of order is waited for.
	var removed sync.WaitGroup
	errs := make([]error, len(pools)*len(kinds))
	for i, p := range pools {
		if !ceph.ShowsPresence(p) {
			continue
		}
		for j, kind := range kinds {
			removed.Go(func() {
				err := client.RemoveWatched(ctx, p.Name, ceph.PresenceObject(infraID, kind))
				if err != nil && !errors.Is(err, ceph.ErrNotFound) && !errors.Is(err, ceph.ErrDenied) {
					errs[i*len(kinds)+j] = fmt.Errorf("removing the operator's object: %w", err)
				}
			})
		}
	}
	removed.Wait()
	return errors.Join(errs...)
}
