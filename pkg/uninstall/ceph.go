package uninstall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// ErrLeft says that something of the operator is left in Ceph, or may be.
var ErrLeft = errors.New("not everything is removed")

// Ceph is a connection to a Ceph cluster.
type Ceph interface {
	pools.Marker
	presence.Remover
	teardown.Watchers
	User(ctx context.Context, id string) (ceph.User, error)
	RemoveUser(ctx context.Context, id string) error
	FSID(ctx context.Context) (string, error)
	Close()
}

// cephCluster is one that is connected.
type cephCluster struct {
	Ceph
	// fsid and where it is declared.
	fsid, where string
	// pools carry marks of this cluster, users are those of its drivers that go.
	pools, users []string
}

// cephClusters is what is known of Ceph before anything is removed.
type cephClusters struct {
	// infraID is what marks of this cluster carry.
	infraID string
	reached []cephCluster
	// unseen are the fsids of those that were in use before, and that nothing leads to.
	unseen []string
}

func (c *cephClusters) close() {
	for _, cluster := range c.reached {
		cluster.Close()
	}
}

func (c *cephClusters) has(fsid string) bool {
	return slices.ContainsFunc(c.reached, func(cluster cephCluster) bool { return cluster.fsid == fsid })
}

// reach connects to every Ceph cluster that is declared, as the operators do: with the mons that were
// known last beside those of the declaration. Nothing is removed without one that volumes are made
// in: with the rest, all would go that leads there. Users stay where there are volumes.
func reach(ctx context.Context, o Options, volumed bool) (*cephClusters, error) {
	c := &cephClusters{}
	known, err := recall(ctx, o)
	if err != nil {
		return c, err
	}
	declared, err := declarations(ctx, o, known)
	if err != nil {
		return c, err
	}
	var problems []error
	for _, d := range declared {
		cluster, err := d.connect(ctx, o, known)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", d.where, err))
		case c.has(cluster.fsid):
			cluster.Close()
		default:
			c.reached = append(c.reached, cluster)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(known.current), c.has)
	if len(missing) > 0 {
		return c, unreachable(missing, problems)
	}
	for _, problem := range problems {
		fmt.Fprintf(o.Out, "Leaves out what leads to no Ceph cluster, and to none that was in use: %v.\n", problem)
	}
	c.unseen = slices.DeleteFunc(known.others, c.has)
	if err := c.look(ctx, o); err != nil || volumed {
		return c, err
	}
	return c, c.lookForUsers(ctx, o)
}

func unreachable(fsids []string, problems []error) error {
	why := errors.Join(problems...)
	if why == nil {
		why = errors.New("nothing on this cluster says how")
	}
	return fmt.Errorf("%w: Ceph cluster %s cannot be reached, whose pools this cluster may keep from removal: %w. Run the command again where Ceph is reached; "+
		"with --ceph-conf and --keyring of an administrator of Ceph; with --rook-namespace, if Rook runs it; or give that up with --leave-ceph",
		ErrRefused, strings.Join(fsids, ", "), why)
}

// look finds the pools with marks of this cluster.
func (c *cephClusters) look(ctx context.Context, o Options) error {
	var err error
	if c.infraID, err = infraID(ctx, o); err != nil {
		return err
	}
	if c.infraID == "" && len(c.reached)+len(c.unseen) > 0 {
		return fmt.Errorf("%w: Infrastructure cluster is gone, which says by which infra ID the pools are marked that this cluster keeps from removal: "+
			"give it with --infra-id (`ceph osd pool ls detail` shows all marks), or give the pools up with --leave-ceph", ErrRefused)
	}
	for i, cluster := range c.reached {
		if c.reached[i].pools, err = cluster.marked(ctx, c.infraID); err != nil {
			return fmt.Errorf("%w: the Ceph cluster of %s: %w", ErrRefused, cluster.where, err)
		}
	}
	return nil
}

func (c cephCluster) marked(ctx context.Context, infraID string) ([]string, error) {
	all, err := c.Pools(ctx)
	return pools.Marked(all, infraID, driver.Kinds()...), err
}

// release takes the marks off. It comes when the operators have ended, which would put them back,
// and before anything is removed that leads to Ceph.
func (c *cephClusters) release(ctx context.Context, o Options) error {
	var errs []error
	for _, cluster := range c.reached {
		note, forgotten := presence.Forget(ctx, cluster, c.infraID, cluster.pools, driver.Kinds()...)
		if note != "" {
			fmt.Fprintf(o.Out, "Leaves alone what is out of order in the Ceph cluster of %s: %s.\n", cluster.where, note)
		}
		err := pools.Release(ctx, cluster, c.infraID, driver.Kinds()...)
		left, readErr := cluster.marked(ctx, c.infraID)
		switch {
		case forgotten != nil && readErr == nil && len(left) == 0:
			errs = append(errs, fmt.Errorf("%w: the Ceph cluster of %s: %w. Run the command again", ErrLeft, cluster.where, forgotten))
		case readErr != nil || len(left) > 0:
			errs = append(errs, cluster.stuck(ctx, c.infraID, left, errors.Join(err, readErr)))
		case len(cluster.pools) > 0:
			fmt.Fprintf(o.Out, "Released the pools of the Ceph cluster of %s.\n", cluster.where)
		}
		errs = append(errs, cluster.removeUsers(ctx))
	}
	return errors.Join(errs...)
}

// stuck says what is left and how an administrator of Ceph removes it.
func (c cephCluster) stuck(ctx context.Context, infraID string, left []string, why error) error {
	if len(left) == 0 {
		left = c.pools
	}
	if why == nil {
		why = errors.New("the marks came back")
	}
	text := fmt.Sprintf("pools of the Ceph cluster of %s are still kept from removal by this cluster (%s)", c.where, strings.Join(left, ", "))
	if commands := byHand(ctx, c, infraID); len(commands) > 0 {
		text += "; an administrator of Ceph releases them with:\n  " + strings.Join(commands, "\n  ") + "\n"
	} else {
		text += ". "
	}
	return fmt.Errorf("%w: %sThe operators are stopped, and nothing else is removed: run the command again. Why: %w", ErrLeft, text, why)
}

// later is how what is left in Ceph is removed once nothing is left on this cluster.
func later(infraID string) string {
	return fmt.Sprintf("`%s uninstall --ceph-conf=ceph.conf --keyring=keyring --infra-id=%s`", driver.Program, cmp.Or(infraID, "INFRA_ID"))
}
