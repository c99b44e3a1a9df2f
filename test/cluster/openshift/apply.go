package openshift

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// fieldManager owns what the embedded cluster writes.
const fieldManager = "embedded-cluster"

// resources are the kinds that can be applied before discovery knows more. The order is that
// of applying: a binding needs its role and its ServiceAccount.
var resources = []struct {
	kind       string
	resource   schema.GroupVersionResource
	namespaced bool
}{
	{"Namespace", schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, false},
	{"ServiceAccount", schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}, true},
	{"ClusterRole", rbac("clusterroles"), false},
	{"Role", rbac("roles"), true},
	{"ClusterRoleBinding", rbac("clusterrolebindings"), false},
	{"RoleBinding", rbac("rolebindings"), true},
}

func rbac(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: resource}
}

// apply writes the objects of the kinds in resources and skips all others.
func apply(ctx context.Context, client dynamic.Interface, objects []*unstructured.Unstructured) error {
	for _, r := range resources {
		for _, object := range objects {
			if object.GetKind() != r.kind {
				continue
			}
			target := dynamic.ResourceInterface(client.Resource(r.resource))
			if r.namespaced {
				target = client.Resource(r.resource).Namespace(object.GetNamespace())
			}
			_, err := target.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
			if err != nil {
				return fmt.Errorf("applying %s %s/%s: %w", r.kind, object.GetNamespace(), object.GetName(), err)
			}
		}
	}
	return nil
}

// parse reads the objects of a YAML file's text.
func parse(file string, content []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
