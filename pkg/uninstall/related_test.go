package uninstall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func reference(group, resource, namespace, name string) map[string]any {
	return map[string]any{"group": group, "resource": resource, "namespace": namespace, "name": name}
}

func TestRunForgetsRelatedObjects(t *testing.T) {
	others := []any{
		reference("", "namespaces", "", driver.Namespace), reference("operator.openshift.io", "storages", "", "cluster"),
		reference("operator.openshift.io", "clustercsidrivers", "", "ebs.csi.aws.com"),
		// May be somebody else's, and then it stays.
		reference("storage.k8s.io", "storageclasses", "", driver.RBD.StorageClass),
	}
	ours := []any{
		reference("operator.openshift.io", "clustercsidrivers", "", driver.RBD.Name),
		reference("rbac.authorization.k8s.io", "roles", driver.Namespace, driver.RBD.OperatorName()+"-role"),
		reference("rbac.authorization.k8s.io", "clusterroles", "", "ceph-cluster-storage"),
	}
	o, client, out := cluster(t)
	operator := existing("ClusterOperator", "", "storage", nil)
	operator.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "cluster-storage-operator", Subresource: "status"}})
	if err := unstructured.SetNestedSlice(operator.Object, append(append([]any{}, others...), ours...), "status", "relatedObjects"); err != nil {
		t.Fatal(err)
	}
	operators := client.Resource(resources["ClusterOperator"])
	if _, err := operators.Create(t.Context(), operator, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after, err := operators.Get(t.Context(), "storage", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("somebody else's ClusterOperator was removed: %v", err)
	}
	have, _, err := unstructured.NestedSlice(after.Object, "status", "relatedObjects")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(others, have); diff != "" {
		t.Errorf("must-gather would look for what has gone (-want +have):\n%s", diff)
	}
}
