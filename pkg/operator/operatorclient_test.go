package operator

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// finalizable completes the fake to the interface of the real client.
type finalizable struct{ *conditiontest.Operator }

func (finalizable) EnsureFinalizer(context.Context, string) error { return nil }
func (finalizable) RemoveFinalizer(context.Context, string) error { return nil }

// TestObservedConfigAlone: what was read before may be older than what a person has set since, of which
// the typed spec knows only a part.
func TestObservedConfigAlone(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.openshift.io/v1", "kind": "ClusterCSIDriver",
		"metadata": map[string]any{"name": driver.RBD.Name, "annotations": map[string]any{"example.com/mine": "1"}},
		"spec": map[string]any{
			"logLevel": "Debug", "driverConfig": map[string]any{"driverType": "Ceph", "ceph": map[string]any{"pool": "mine"}},
			"observedConfig": map[string]any{"before": true},
		},
	}}
	resource := dynamicfake.NewSimpleDynamicClient(k8sruntime.NewScheme(), live.DeepCopy()).Resource(clusterCSIDrivers)
	client := newMaybeWithout(finalizable{conditiontest.New(operatorv1.Managed)}, driver.RBD, resource, condition.NewBoard(nil, nil))
	older := &operatorv1.OperatorSpec{LogLevel: operatorv1.Normal}
	older.ObservedConfig.Object = &unstructured.Unstructured{Object: map[string]any{"after": true}}
	spec, _, err := client.UpdateOperatorSpec(t.Context(), "1", older)
	if err != nil || spec.LogLevel != operatorv1.Debug || string(spec.ObservedConfig.Raw) != `{"after":true}` {
		t.Errorf("returned %+v, %v", spec, err)
	}
	got, err := resource.Get(t.Context(), driver.RBD.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Object["spec"].(map[string]any)["observedConfig"] = map[string]any{"after": true}
	if diff := cmp.Diff(live.Object, got.Object); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
