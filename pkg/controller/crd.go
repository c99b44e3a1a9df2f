package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// LiveCRD is the CustomResourceDefinition of a kind as etcd has it; nil without one. It lists, as the
// operators' informers do: they have no other right to read.
func LiveCRD(ctx context.Context, client dynamic.Interface, kind schema.GroupResource) (*unstructured.Unstructured, error) {
	list, err := client.Resource(CRDs).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", kind.String()).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", kind, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

// Established fails unless a CustomResourceDefinition is there to stay: while it comes or goes, its objects
// may be unseen.
func Established(crd *unstructured.Unstructured) error {
	if crd.GetDeletionTimestamp() != nil || conditionOf(crd, "Terminating") == "True" || conditionOf(crd, "Established") != "True" {
		return fmt.Errorf("CustomResourceDefinition %s is not established, or is being removed, so that snapshots cannot be seen", crd.GetName())
	}
	return nil
}

// ServedBy is a version at which the objects of a CustomResourceDefinition can be read: that in which they are stored, as no
// webhook need convert them, or another one.
func ServedBy(crd *unstructured.Unstructured) (string, error) {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	out := ""
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		if name, _ := fields["name"].(string); fields["served"] == true && (out == "" || fields["storage"] == true) {
			out = name
		}
	}
	if out == "" {
		return "", fmt.Errorf("CustomResourceDefinition %s serves no version, so that its objects cannot be read", crd.GetName())
	}
	return out, nil
}

// conditionOf is the status of a condition.
func conditionOf(object *unstructured.Unstructured, conditionType string) string {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == conditionType {
			text, _ := fields["status"].(string)
			return text
		}
	}
	return ""
}
