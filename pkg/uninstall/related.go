package uninstall

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forget takes what was removed out of the related objects of ClusterOperator storage, where
// that stays because somebody else has written it, too: must-gather would look for it.
func forget(ctx context.Context, o Options) error {
	operator, err := wide("ClusterOperator", "storage").read(ctx, o, resources["ClusterOperator"])
	if err != nil || operator == nil {
		return err
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
		return slices.ContainsFunc(all, func(t target) bool { return t.Mine == nil && t.is(reference) })
	})
	if len(kept) == len(related) {
		return nil
	}
	if err := unstructured.SetNestedSlice(operator.Object, kept, "status", "relatedObjects"); err != nil {
		return fmt.Errorf("related objects of ClusterOperator storage: %w", err)
	}
	if _, err := o.Dynamic.Resource(resources["ClusterOperator"]).UpdateStatus(ctx, operator, metav1.UpdateOptions{}); err != nil {
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
	resource := resources[t.Kind]
	return field("group") == resource.Group && field("resource") == resource.Resource && field("name") == t.Name && field("namespace") == t.Namespace
}
