package operator

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// rolling has a Deployment be Progressing as long as it has pods of a former template. library-go asks the condition of
// the Deployment itself, and when its template becomes one that it had before, that goes on to say that the rollout is
// complete until the first new pod is there, for good if there cannot be any (Kubernetes,
// pkg/controller/deployment/progress.go, syncRolloutStatus).
type rolling struct {
	v1helpers.OperatorClientWithFinalizers
	progressing string
	deployment  func() (*appsv1.Deployment, error)
}

// ApplyOperatorStatus writes conditions.
func (r rolling) ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	for i, c := range status.Conditions {
		if *c.Type != r.progressing || *c.Status != operatorv1.ConditionFalse {
			continue
		}
		if d, err := r.deployment(); err == nil && d.Status.UpdatedReplicas < d.Status.Replicas {
			status.Conditions[i] = *condition.New(r.progressing, operatorv1.ConditionTrue, condition.Deploying, "Waiting for Deployment to update pods")
		}
	}
	return r.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, fieldManager, status)
}
