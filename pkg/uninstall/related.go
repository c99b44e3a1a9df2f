package uninstall

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forget takes what was removed out of the related objects of ClusterOperator storage, where
// that stays because somebody else has written it, too: must-gather would look for it.
func forget(ctx context.Context, o Options) error {
	client := o.Dynamic.Resource(resources["ClusterOperator"])
	operator, err := client.Get(ctx, "storage", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterOperator storage: %w", err)
	}
	all, err := targets(o)
	if err != nil {
		return err
	}
	related, _, err := unstructured.NestedSlice(operator.Object, "status", "relatedObjects")
	if err != nil {
		return fmt.Errorf("related objects of ClusterOperator storage: %w", err)
	}
	kept := slices.DeleteFunc(slices.Clone(related), func(reference any) bool {
		return slices.ContainsFunc(all, func(t target) bool { return t.mine == nil && t.is(reference) })
	})
	if len(kept) == len(related) {
		return nil
	}
	if err := unstructured.SetNestedSlice(operator.Object, kept, "status", "relatedObjects"); err != nil {
		return fmt.Errorf("related objects of ClusterOperator storage: %w", err)
	}
	if _, err := client.UpdateStatus(ctx, operator, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("removing what has gone from the related objects of ClusterOperator storage: %w", err)
	}
	return nil
}

// is says whether a reference (of type ObjectReference of config.openshift.io) names the target.
func (t target) is(reference any) bool {
	fields, ok := reference.(map[string]any)
	if !ok {
		return false
	}
	field := func(name string) string {
		text, _ := fields[name].(string)
		return text
	}
	resource := resources[t.kind]
	return field("group") == resource.Group && field("resource") == resource.Resource && field("name") == t.name && field("namespace") == t.namespace
}
