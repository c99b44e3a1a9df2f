package removal

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// act goes as far as the step, and returns what was still there: the next step begins when that is
// nothing, and the last has ended.
func (c *Controller) act(ctx context.Context, s step) ([]string, error) {
	parts := []func(context.Context) ([]string, error){c.classes}
	if s == remove {
		parts = append(parts, c.workloads, c.pods, c.rest)
	}
	for _, part := range parts {
		if left, err := part(ctx); err != nil || len(left) > 0 {
			return left, err
		}
	}
	return nil, nil
}

// classes are remembered before they go.
func (c *Controller) classes(ctx context.Context) ([]string, error) {
	c.Remembering.Lock()
	defer c.Remembering.Unlock()
	return c.delete(ctx, c.Objects.Classes, func(o Object, live *unstructured.Unstructured) error {
		record := c.Records[o.String()]
		if record == nil {
			return nil
		}
		last, _, err := record.Read(ctx)
		if err != nil {
			return err
		}
		if !last.Empty() {
			return nil // Another controller was about to make it, from this.
		}
		return record.Save(ctx, state.ClassOf(live))
	})
}

func (c *Controller) workloads(ctx context.Context) ([]string, error) {
	return c.delete(ctx, c.Objects.Workloads, nil)
}

// pods end after their workloads have gone.
func (c *Controller) pods(ctx context.Context) ([]string, error) {
	var left []string
	for _, w := range c.Objects.Workloads {
		list, err := c.Dynamic.Resource(pods).Namespace(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + w.Name})
		if err != nil {
			return nil, fmt.Errorf("listing pods of %s: %w", w, err)
		}
		for _, pod := range list.Items {
			left = append(left, "Pod "+pod.GetName())
		}
	}
	return left, nil
}

func (c *Controller) rest(ctx context.Context) ([]string, error) {
	taken, err := c.TakeBack(ctx)
	if err != nil || len(taken) > 0 {
		return taken, err
	}
	for _, o := range c.Objects.OptIn {
		if left, err := c.optIn(ctx, o); err != nil || len(left) > 0 {
			return left, err
		}
	}
	return c.delete(ctx, slices.Concat(c.Objects.Retired, c.Objects.Rest), nil)
}

// optIn gives the rights back when nothing that took them is left.
func (c *Controller) optIn(ctx context.Context, o OptIn) ([]string, error) {
	_, bound, err := c.find(ctx, o.Binding)
	if err != nil || bound == nil {
		return nil, err
	}
	if left, err := c.delete(ctx, o.Objects, nil); err != nil || len(left) > 0 {
		return left, err
	}
	return c.delete(ctx, []Object{o.Binding}, nil)
}

// delete deletes what of the objects is there and ours, and names it. It ends when Removed is no longer
// declared.
func (c *Controller) delete(ctx context.Context, objects []Object, first func(Object, *unstructured.Unstructured) error) ([]string, error) {
	var left []string
	for _, o := range objects {
		client, live, err := c.find(ctx, o)
		if err != nil {
			return nil, err
		}
		if live == nil {
			continue
		}
		left = append(left, o.String())
		if declared, err := c.Sight.Declared(); err != nil || !declared {
			return left, err
		}
		if first != nil {
			if err := first(o, live); err != nil {
				return nil, err
			}
		}
		err = client.Delete(ctx, o.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: ptr.To(live.GetUID())}, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("deleting %s: %w", o, err)
		}
		c.Recorder.Eventf(o.Kind+"Deleted", "Deleted %s because managementState is Removed", o)
	}
	return left, nil
}

// find returns an object where it is there and ours. A list is what etcd's quorum answers.
func (c *Controller) find(ctx context.Context, o Object) (client, *unstructured.Unstructured, error) {
	of, known := resource(o.Kind, c.Served)
	if !known {
		return nil, nil, nil
	}
	client := c.Dynamic.Resource(of).Namespace(o.Namespace)
	list, err := client.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, o.Name).String()})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil // Its kind has gone.
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", o, err)
	}
	for i := range list.Items {
		if live := &list.Items[i]; live.GetName() == o.Name && (o.Mine == nil || o.Mine(live)) {
			return client, live, nil
		}
	}
	return nil, nil, nil
}

// client is of one kind and namespace.
type client interface {
	Delete(ctx context.Context, name string, o metav1.DeleteOptions, subresources ...string) error
}
