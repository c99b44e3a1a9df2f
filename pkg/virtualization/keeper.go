package virtualization

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// keeper keeps objects that the operator writes as a whole: as long as they are wanted they are
// as wanted, and afterwards they are removed.
type keeper struct {
	Config
	// name of the controller, and of what it writes about itself.
	name, conditionType string
	// role is the ClusterRole that reading and writing them takes, and its binding.
	role  string
	kinds []kind
	// wanted is what there should be; errUndecided leaves everything as it is.
	wanted func() (wish, error)
}

// wish is what there should be. Rights are needed for one that is asked for and not pointless.
type wish struct {
	// asked says that an administrator has switched it on.
	asked bool
	items []item
	// pointless says why it is of no use here; empty where it is.
	pointless string
}

func (w wish) needed() bool { return w.asked && w.pointless == "" }

// item is an object that there should be.
type item struct {
	kind   kind
	object *unstructured.Unstructured
}

// errUndecided says that the settings are not known yet.
var errUndecided = errors.New("the settings are not known")

// optedIn says whether the settings ask for a feature.
func optedIn(settings func() (driver.Settings, error), asks func(driver.Settings) bool) (bool, error) {
	chosen, err := settings()
	if err != nil {
		return false, errUndecided // pkg/settings tells why.
	}
	return asks(chosen), nil
}

// change is what a keeper has to do.
type change struct {
	kind kind
	// apply is to be written, remove to be deleted; one of them is nil.
	apply, remove *unstructured.Unstructured
}

func (c keeper) sync(ctx context.Context, _ factory.SyncContext) error {
	if c.Watches.isUndecided() {
		return nil
	}
	v := c.voice(c.name, c.conditionType)
	if !c.Watches.isOpen() {
		return v.silent(ctx)
	}
	w, err := c.wanted()
	if errors.Is(err, errUndecided) {
		return nil
	}
	if err != nil {
		return err
	}
	bound := c.Rights.bound(c.Driver, c.role) != nil
	if !bound && w.needed() {
		return c.failed(ctx, c.Rights.bind(ctx, c.Driver, c.role))
	}
	var known []kind
	for _, k := range c.kinds {
		switch s, why := c.Watches.state(k); {
		case !bound: // Nothing is there, and nothing is to be.
		case s == loading && why != nil && w.asked:
			return v.bad(ctx, condition.SyncError, why.Error())
		case s == loading || s == absent && len(k.wanted(c.Served)) > 0:
			return nil // The gate, or the API server, has not come round to it.
		case s == ready:
			known = append(known, k)
		}
	}
	clean := c.clean(known)
	changes, foreign := c.compare(known, w.items)
	var errs []error
	for _, change := range changes {
		errs = append(errs, c.act(ctx, change))
	}
	if bound && !w.asked && clean {
		errs = append(errs, c.Rights.withdraw(ctx, c.role))
	}
	err = errors.Join(errs...)
	switch {
	case err != nil:
		return c.failed(ctx, err)
	case len(foreign) > 0:
		return v.bad(ctx, condition.ForeignObject, strings.Join(foreign, "; "))
	case w.asked && w.pointless != "":
		return v.bad(ctx, condition.NotSupported, w.pointless)
	case w.asked:
		return v.good(ctx)
	}
	return v.silent(ctx)
}

// failed tells of an error; nil is none.
func (c keeper) failed(ctx context.Context, err error) error {
	if err == nil || apierrors.IsConflict(err) {
		return err // Our copy is a moment old; nothing is wrong.
	}
	return c.voice(c.name, c.conditionType).failed(ctx, condition.SyncError, err)
}

// clean says whether it is proved that nothing of the operator is left: somebody has looked. A kind that the
// API server does not serve may come back with all its objects.
func (c keeper) clean(known []kind) bool {
	return len(known) > 0 && !slices.ContainsFunc(known, func(k kind) bool { return slices.ContainsFunc(c.Watches.list(k), c.ours) })
}

func (c keeper) ours(o *unstructured.Unstructured) bool { return c.Driver.Owns(o) }

// compare tells what to change, and of objects that somebody else made.
func (c keeper) compare(known []kind, wanted []item) (changes []change, foreign []string) {
	for _, k := range known {
		held := c.Watches.list(k)
		var keep []string
		for _, w := range wanted {
			if w.kind.key() != k.key() {
				continue
			}
			name := w.object.GetName()
			keep = append(keep, name)
			i := slices.IndexFunc(held, func(h *unstructured.Unstructured) bool { return h.GetName() == name })
			switch {
			case i >= 0 && !c.Driver.Owns(held[i]):
				foreign = append(foreign, fmt.Sprintf("%s %s belongs to %s and is left alone; to let this operator make its own: oc delete %s %s",
					w.object.GetKind(), name, driver.Owner(held[i]), k.crd(), name))
			case i < 0 || !covers(held[i].Object, w.object.Object):
				changes = append(changes, change{kind: k, apply: w.object})
			}
		}
		for _, h := range held {
			if c.Driver.Owns(h) && h.GetDeletionTimestamp() == nil && !slices.Contains(keep, h.GetName()) {
				changes = append(changes, change{kind: k, remove: h})
			}
		}
	}
	return changes, foreign
}

func (c keeper) act(ctx context.Context, todo change) error {
	resource, watched := c.Watches.resource(todo.kind)
	if !watched {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	client := c.Dynamic.Resource(resource)
	if todo.remove != nil {
		name := todo.remove.GetName()
		err := client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(todo.remove.GetUID())}})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("deleting %s %s: %w", todo.remove.GetKind(), name, err)
		}
		c.Recorder.Eventf(c.name+"Removed", "Removed %s %s", todo.remove.GetKind(), name)
		return nil
	}
	name := todo.apply.GetName()
	_, err := client.Apply(ctx, name, todo.apply, metav1.ApplyOptions{FieldManager: c.Driver.FieldManager(c.name), Force: true})
	if err != nil {
		return fmt.Errorf("writing %s %s: %w", todo.apply.GetKind(), name, err)
	}
	c.Recorder.Eventf(c.name+"Written", "Wrote %s %s", todo.apply.GetKind(), name)
	return nil
}

// covers says whether held has all that wanted has: the API server adds defaults.
func covers(held, wanted any) bool {
	switch want := wanted.(type) {
	case map[string]any:
		have, _ := held.(map[string]any)
		for key, value := range want {
			if !covers(have[key], value) {
				return false
			}
		}
		return have != nil
	case []any:
		have, _ := held.([]any)
		if len(have) != len(want) {
			return false
		}
		for i := range want {
			if !covers(have[i], want[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(held, wanted)
}
