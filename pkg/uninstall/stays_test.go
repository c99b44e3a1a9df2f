package uninstall

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTellWhatStays(t *testing.T) {
	const patch, override = "The patch of CustomResourceDefinition " + crdName + " stays", "/spec/overrides/0"
	tests := map[string]struct {
		reason            string
		defined, overrode bool
		says              string
	}{
		"Patched":    {reason: "until the next sync of the cluster version operator", defined: true, says: patch},
		"Overridden": {reason: "it blocks upgrades", defined: true, overrode: true, says: override},
		"Gone":       {reason: "somebody deleted the manifests first: nothing is patched"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, client, out := cluster(t)
			if tc.defined {
				crd := &unstructured.Unstructured{Object: map[string]any{}}
				crd.SetGroupVersionKind(crds.GroupVersion().WithKind("CustomResourceDefinition"))
				crd.SetName(crdName)
				if _, err := client.Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if tc.overrode {
				version := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
					"overrides": []any{map[string]any{"name": crdName, "unmanaged": true}},
				}}}
				version.SetGroupVersionKind(clusterVersions.GroupVersion().WithKind("ClusterVersion"))
				version.SetName("version")
				if _, err := client.Resource(clusterVersions).Create(t.Context(), version, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := tellWhatStays(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{patch, override} {
				if strings.Contains(out.String(), text) != (text == tc.says) {
					t.Errorf("%s: it says\n%s", tc.reason, out)
				}
			}
		})
	}
}
