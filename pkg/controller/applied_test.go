package controller_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// resource is as API servers store one: a condition is shared, another one was removed by somebody,
// and the same manager has updated and applied, under status and not.
const resource = `
apiVersion: operator.openshift.io/v1
kind: ClusterCSIDriver
metadata:
  name: rbd.csi.ceph.com
  managedFields:
  - {manager: me, operation: Update, subresource: status, apiVersion: operator.openshift.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:status": {"f:conditions": {"k:{\"type\":\"Updated\"}": {".": {}, "f:type": {}, "f:status": {}}}}}}
  - {manager: me, operation: Apply, apiVersion: operator.openshift.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:spec": {"f:logLevel": {}}}}
  - {manager: me, operation: Apply, subresource: status, apiVersion: operator.openshift.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:status": {"f:readyReplicas": {}, "f:conditions": {
       "k:{\"type\":\"Mine\"}": {".": {}, "f:type": {}, "f:status": {}, "f:message": {}, "f:lastTransitionTime": {}},
       "k:{\"type\":\"Shared\"}": {".": {}, "f:type": {}, "f:reason": {}},
       "k:{\"type\":\"Lost\"}": {".": {}, "f:type": {}}},
       "f:generations": {"k:{\"group\":\"apps\",\"name\":\"driver\",\"namespace\":\"ns\",\"resource\":\"deployments\"}": {
         ".": {}, "f:group": {}, "f:resource": {}, "f:namespace": {}, "f:name": {}, "f:lastGeneration": {}}}}}}
  - {manager: other, operation: Apply, subresource: status, apiVersion: operator.openshift.io/v1, fieldsType: FieldsV1,
     fieldsV1: {"f:status": {"f:conditions": {"k:{\"type\":\"Shared\"}": {".": {}, "f:type": {}, "f:status": {}}}}}}
spec:
  managementState: Managed
  logLevel: Debug
status:
  readyReplicas: 3
  conditions:
  - {type: Others, status: "True", message: not mine}
  - {type: Shared, status: "True", reason: Why, message: m}
  - {type: Mine, status: "False", reason: R, message: "1", lastTransitionTime: "2026-01-02T03:04:05Z"}
  - {type: Updated, status: "False"}
  generations:
  - {group: apps, resource: daemonsets, namespace: ns, name: driver, lastGeneration: 1}
  - {group: apps, resource: deployments, namespace: ns, name: driver, lastGeneration: 7}
`

// TestLikeClientGo: library-go compares what is returned with what it is about to write.
func TestLikeClientGo(t *testing.T) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(resource), &object.Object); err != nil {
		t.Fatal(err)
	}
	typed := &operatorv1.ClusterCSIDriver{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		t.Fatal(err)
	}
	for manager, conditions := range map[string]int{"me": 2, "other": 1, "nobody": 0} {
		t.Run(manager, func(t *testing.T) {
			want, err := applyoperatorv1.ExtractClusterCSIDriverStatus(typed, manager)
			if err != nil {
				t.Fatal(err)
			}
			var wantStatus *applyoperatorv1.OperatorStatusApplyConfiguration
			if want.Status != nil {
				wantStatus = &want.Status.OperatorStatusApplyConfiguration
			}
			status, err := ctrl.AppliedStatus(object, manager)
			if diff := cmp.Diff(wantStatus, status); err != nil || diff != "" {
				t.Errorf("status: %v, -client-go +ours:\n%s", err, diff)
			}
			if status != nil && len(status.Conditions) != conditions || status == nil && conditions > 0 {
				t.Errorf("%d conditions wanted: %+v", conditions, status)
			}
			want, err = applyoperatorv1.ExtractClusterCSIDriver(typed, manager)
			if err != nil {
				t.Fatal(err)
			}
			var wantSpec *applyoperatorv1.OperatorSpecApplyConfiguration
			if want.Spec != nil {
				wantSpec = &want.Spec.OperatorSpecApplyConfiguration
			}
			spec, err := ctrl.AppliedSpec(object, manager)
			if diff := cmp.Diff(wantSpec, spec); err != nil || diff != "" {
				t.Errorf("spec: %v, -client-go +ours:\n%s", err, diff)
			}
		})
	}
}
