package presence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Remover removes what is watched.
type Remover interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	RemoveWatched(ctx context.Context, pool, object string) error
}

// Forget removes the objects of drivers of a cluster from all pools, for its uninstallation or teardown.
// Pools in which the user may do nothing have none. Those that the cluster has claimed must answer; of
// others that are out of order, which it may never have used, note tells.
func Forget(ctx context.Context, client Remover, infraID string, claimed []string, kinds ...string) (note string, err error) {
	pools, err := client.Pools(ctx)
	if err != nil {
		return "", err
	}
	// At the same time: each pool that is out of order is waited for.
	var all sync.WaitGroup
	var mu sync.Mutex
	var silent []string
	var errs []error
	for _, p := range pools {
		if !ceph.ShowsPresence(p) {
			continue
		}
		for _, kind := range kinds {
			all.Go(func() {
				err := client.RemoveWatched(ctx, p.Name, ceph.PresenceObject(infraID, kind))
				unanswered := errors.Is(err, ceph.ErrTimeout) || errors.Is(err, ceph.ErrUnheard)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil, errors.Is(err, ceph.ErrNotFound), errors.Is(err, ceph.ErrDenied) && !unanswered:
				case unanswered && !slices.Contains(claimed, p.Name):
					silent = append(silent, fmt.Sprintf("pool %q", p.Name))
				default:
					errs = append(errs, fmt.Errorf("removing the operator's object: %w", err))
				}
			})
		}
	}
	all.Wait()
	if len(silent) > 0 {
		slices.Sort(silent)
		note = fmt.Sprintf("%s: no answer, and no claim of the cluster; if its operators ever showed there that they run, their objects are left, which harm nobody",
			strings.Join(slices.Compact(silent), ", "))
	}
	return note, errors.Join(errs...)
}
