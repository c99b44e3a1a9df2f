package virtualization

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/workqueue"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// keepRights has the operator hold its role on platforms for virtual machines while one is there.
//
//	a CRD of theirs | bound | then
//	yes             | no    | take the rights
//	yes             | yes   | nothing
//	no              | no    | nothing
//	no              | yes   | when nothing is read any more, and that is proved: take back what is left on
//	                        | StorageClasses, then give them back
func (c *gate) keepRights(ctx context.Context, queue workqueue.TypedRateLimitingInterface[any]) error {
	role := c.Driver.MachinesRole()
	bound := c.Rights.bound(c.Driver, role) != nil
	there := slices.ContainsFunc(platform, func(k kind) bool { return len(k.wanted(c.Served)) > 0 })
	if there || !bound {
		c.idle = time.Time{}
	}
	switch {
	case there && !bound:
		return c.Rights.bind(ctx, c.Driver, role)
	case there || !bound:
		return nil
	case c.idle.IsZero():
		c.idle = c.Clock.Now()
	}
	if rest := spread - c.Clock.Since(c.idle); rest > 0 {
		queue.AddAfter(factory.DefaultQueueKey, rest)
		return nil
	}
	if gone, err := c.gone(ctx); err != nil || !gone {
		return err
	}
	left, err := inClasses(c.Dynamic, c.Driver).traces(ctx)
	for _, t := range left {
		err = errors.Join(err, t.Remove(ctx))
	}
	if err != nil {
		return err
	}
	return c.Rights.withdraw(ctx, role)
}

// gone says whether it is proved that no platform is there: past all caches there is none of its CRDs, not even one
// on its way out, and so no object of theirs. A CRD that comes back brings the rights back.
func (c *gate) gone(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for _, k := range platform {
		found, err := c.Dynamic.Resource(ctrl.CRDs).List(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, k.crd()).String(),
		})
		if err != nil {
			return false, fmt.Errorf("looking for CRD %s: %w", k.crd(), err)
		}
		if len(found.Items) > 0 {
			return false, nil
		}
	}
	return true, nil
}
