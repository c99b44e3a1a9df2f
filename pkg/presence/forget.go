package presence

import (
	"context"
	"errors"
	"fmt"

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
	var errs []error
	for _, p := range pools {
		if !ceph.ShowsPresence(p) {
			continue
		}
		for _, kind := range kinds {
			err := client.RemoveWatched(ctx, p.Name, ceph.PresenceObject(infraID, kind))
			if err != nil && !errors.Is(err, ceph.ErrNotFound) && !errors.Is(err, ceph.ErrDenied) {
				errs = append(errs, fmt.Errorf("removing the operator's object: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}
