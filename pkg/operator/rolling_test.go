package operator

import (
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

func TestRolling(t *testing.T) {
	const kind = "XProgressing"
	deploying := condition.New(kind, operatorv1.ConditionTrue, condition.Deploying, "Waiting for Deployment to act on changes")
	tests := map[string]struct {
		reason            string
		says              *condition.Said
		replicas, updated int32
		gone              bool
		want              operatorv1.ConditionStatus
	}{
		"Complete":    {"all pods are of the template", condition.Good(kind), 2, 2, false, operatorv1.ConditionFalse},
		"NodeReboot":  {"one that is missing is no rollout", condition.Good(kind), 1, 1, false, operatorv1.ConditionFalse},
		"BackAgain":   {"no pod is of the template that it had before and has again", condition.Good(kind), 2, 0, false, operatorv1.ConditionTrue},
		"Progressing": {"as the library says", deploying, 2, 2, false, operatorv1.ConditionTrue},
		"Gone":        {"as the library says", condition.Good(kind), 0, 0, true, operatorv1.ConditionFalse},
		"Another":     {"only of this one", condition.Good("XAvailable"), 2, 0, false, operatorv1.ConditionFalse},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cr := conditiontest.New(operatorv1.Managed)
			client := rolling{finalizable{cr}, kind, func() (*appsv1.Deployment, error) {
				if tc.gone {
					return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, "x")
				}
				return &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: tc.replicas, UpdatedReplicas: tc.updated}}, nil
			}}
			if err := client.ApplyOperatorStatus(t.Context(), "manager", applyoperatorv1.OperatorStatus().WithConditions(tc.says)); err != nil {
				t.Fatal(err)
			}
			if got := cr.Condition(*tc.says.Type); got == nil || got.Status != tc.want {
				t.Errorf("%s: %v, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
