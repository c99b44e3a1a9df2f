package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// claimed is a Ceph cluster as far as this cluster has marked it: its user may have no rights elsewhere.
type claimed struct{ cephCluster }

// Pools are those with marks.
func (c claimed) Pools(ctx context.Context) ([]ceph.Pool, error) {
	all, err := c.cephCluster.Pools(ctx)
	return slices.DeleteFunc(all, func(p ceph.Pool) bool { return !slices.Contains(c.pools, p.Name) }), err
}

// alone fails while operators of the same infra ID run: once this cluster's own have ended, they are those
// of its copy, or of what it is a copy of, which live by the same marks and users.
func (c *cephClusters) alone(ctx context.Context, clock clock.Clock) error {
	for _, cluster := range c.reached {
		running, err := teardown.NewOperators(c.infraID, claimed{cluster}, driver.Kinds(), clock).Remaining(ctx)
		if err != nil {
			mend := "run the command again"
			if errors.Is(err, ceph.ErrDenied) { // Nor will this user ever learn it.
				mend += " with --ceph-conf and --keyring of an administrator of Ceph, or leave Ceph as it is with --leave-ceph"
			}
			return fmt.Errorf("%w: asking whether another cluster lives by what this one has in the Ceph cluster of %s: %w. "+
				"The operators are stopped, and nothing else is removed: %s", ErrLeft, cluster.where, err, mend)
		}
		if len(running) > 0 {
			return fmt.Errorf("%w: another cluster has the infra ID %s, too, and lives by what this one has in the Ceph cluster of %s: %s. "+
				"The operators here are stopped, and nothing else is removed. --leave-ceph removes the rest here and leaves Ceph to the other one; "+
				"or shut that one down, and run the command again", ErrLeft, c.infraID, cluster.where, strings.Join(running, "; "))
		}
	}
	return nil
}
