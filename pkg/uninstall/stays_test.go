package uninstall

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

func TestTellWhatStays(t *testing.T) {
	const patch = "The patch of CustomResourceDefinition " + crdName + " stays"
	tests := map[string]struct {
		reason  string
		defined bool
	}{
		"Patched": {reason: "until the next sync of the cluster version operator", defined: true},
		"Gone":    {reason: "somebody deleted the manifests first: nothing is patched"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, client, out := cluster(t)
			if tc.defined {
				crd := &unstructured.Unstructured{Object: map[string]any{}}
				crd.SetGroupVersionKind(ctrl.CRDs.GroupVersion().WithKind("CustomResourceDefinition"))
				crd.SetName(crdName)
				if _, err := client.Resource(ctrl.CRDs).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := tellWhatStays(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), patch) != tc.defined {
				t.Errorf("%s: it says\n%s", tc.reason, out)
			}
		})
	}
}
