package uninstall

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// userIDs are the Ceph users that the operators may have made, without "client."; none where they may be
// Rook's.
func userIDs(infraID string) []string {
	if infraid.Check(infraID) != nil {
		return nil
	}
	var out []string
	for _, d := range driver.All {
		out = append(out, d.ProvisionerUser(infraID), d.NodeUser(infraID))
	}
	return out
}

// lookForUsers finds those that are there. Who may not look for them has not made any, unless a driver
// has one of them in its Secrets.
func (c *cephClusters) lookForUsers(ctx context.Context, o Options) error {
	given, err := usersGiven(ctx, o)
	if err != nil {
		return err
	}
	for i, cluster := range c.reached {
		for _, id := range userIDs(c.infraID) {
			_, err := cluster.User(ctx, id)
			switch {
			case err == nil, errors.Is(err, ceph.ErrDenied) && given[id]:
				c.reached[i].users = append(c.reached[i].users, "client."+id)
			case !errors.Is(err, ceph.ErrNotFound) && !errors.Is(err, ceph.ErrDenied):
				return fmt.Errorf("%w: the Ceph cluster of %s: %w", ErrRefused, cluster.where, err)
			}
		}
	}
	return nil
}

// lookAgain comes when the operators have ended: whoever was asked may have thought for an hour, in which
// the drivers went on making volumes.
func (c *cephClusters) lookAgain(ctx context.Context, o Options) error {
	stands, err := look(ctx, o)
	if err == nil {
		err = stands.refusal(o.Force)
	}
	if err != nil {
		return fmt.Errorf("%w: %w. The operators are stopped, and nothing else is removed: run the command again", ErrLeft, err)
	}
	for i := range c.reached {
		if len(c.reached[i].users) > 0 && stands.volumed() {
			fmt.Fprintln(o.Out, "Leaves the Ceph users of the drivers, which volumes or snapshots need that came meanwhile.")
			c.reached[i].users = nil
		}
	}
	return nil
}

// usersGiven are the users that the drivers work as.
func usersGiven(ctx context.Context, o Options) (map[string]bool, error) {
	out := map[string]bool{}
	for _, d := range driver.All {
		for _, name := range []string{d.ProvisionerSecret(), d.NodeSecret()} {
			secret, err := o.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, name, err)
			}
			out[string(secret.Data[ceph.EntryUserID])] = true
		}
	}
	return out, nil
}

// removeUsers says what an administrator of Ceph does where it cannot.
func (c cephCluster) removeUsers(ctx context.Context) error {
	var left []string
	var why []error
	for _, user := range c.users {
		err := c.RemoveUser(ctx, strings.TrimPrefix(user, "client."))
		if err != nil && !errors.Is(err, ceph.ErrNotFound) {
			left, why = append(left, "ceph auth rm "+shell.Quote(user)), append(why, err)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: Ceph users of the drivers are still in the Ceph cluster of %s; an administrator of Ceph removes them with:\n  %s\n"+
			"The operators are stopped, and nothing else is removed: run the command again. Why: %w", ErrLeft, c.where, strings.Join(left, "\n  "), errors.Join(why...))
	}
	return nil
}
