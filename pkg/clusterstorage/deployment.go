package clusterstorage

import (
	"context"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/resource/resourcemerge"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// deployment applies the ConfigMap with the TLS profile, and the Deployment of the operator.
//
// It produces the conditions <prefix>Progressing and
// <prefix>CSIDriverOperatorDeploymentDegraded. There is no Available: what an unavailable
// operator has deployed works on.
func (s starter) deployment(o operator) (factory.Controller, error) {
	if _, err := s.render(o, operatorv1.Normal); err != nil {
		return nil, err
	}
	config := s.clients.configInformers.Config().V1()
	name := o.ConditionPrefix + deploymentController
	return s.controller(controller{
		name: name, of: o,
		informers: []factory.Informer{
			config.Infrastructures().Informer(), config.APIServers().Informer(), config.Proxies().Informer(), s.clients.ns().Core().V1().ConfigMaps().Informer(),
			s.clients.ns().Rbac().V1().RoleBindings().Informer(), s.clients.cluster().Rbac().V1().ClusterRoleBindings().Informer(),
		},
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			if !s.mayStart(o) {
				return nil // The bindings' informers tell when it may.
			}
			if err := s.applyConfig(ctx, o); err != nil {
				return err
			}
			return s.applyDeployment(ctx, name, o)
		},
	}), nil
}

// mayStart says whether the operator runs already or has its rights: without them, it would
// start with errors.
func (s starter) mayStart(o operator) bool {
	name := o.driver.OperatorName()
	_, err := s.clients.ns().Apps().V1().Deployments().Lister().Deployments(driver.Namespace).Get(name)
	if err == nil {
		return true
	}
	_, inNamespace := s.clients.ns().Rbac().V1().RoleBindings().Lister().RoleBindings(driver.Namespace).Get(name + "-rolebinding")
	_, inCluster := s.clients.cluster().Rbac().V1().ClusterRoleBindings().Lister().Get(name + "-clusterrolebinding")
	return inNamespace == nil && inCluster == nil
}

func (s starter) applyDeployment(ctx context.Context, name string, o operator) error {
	spec, current, _, err := s.clients.storage.GetOperatorState()
	if err != nil {
		return err
	}
	required, err := s.render(o, spec.LogLevel)
	if err != nil {
		return err
	}
	infrastructure, err := s.clients.configInformers.Config().V1().Infrastructures().Lister().Get(instance)
	if err != nil {
		return fmt.Errorf("reading Infrastructure/%s: %w", instance, err)
	}
	if infrastructure.Status.ControlPlaneTopology == configv1.ExternalTopologyMode {
		delete(required.Spec.Template.Spec.NodeSelector, "node-role.kubernetes.io/master")
	}
	proxy, err := s.clients.configInformers.Config().V1().Proxies().Lister().Get(instance)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading Proxy/%s: %w", instance, err)
	}
	injectProxy(required, proxy)
	deployment, _, err := resourceapply.ApplyDeployment(ctx, s.clients.kube.AppsV1(), s.recorder, required,
		resourcemerge.ExpectedDeploymentGeneration(required, current.Generations))
	if err != nil {
		return err
	}
	status := applyoperatorv1.OperatorStatus().
		WithConditions(rollout(o.ConditionPrefix, deployment)).
		WithGenerations(&applyoperatorv1.GenerationStatusApplyConfiguration{
			Group: ptr.To(appsv1.GroupName), Resource: ptr.To("deployments"),
			Namespace: ptr.To(deployment.Namespace), Name: ptr.To(deployment.Name), LastGeneration: ptr.To(deployment.Generation),
		})
	if err := s.clients.storage.ApplyOperatorStatus(ctx, name, status); err != nil {
		return err
	}
	return unhealthy(deployment)
}

// render fills in the operator's Deployment.
func (s starter) render(o operator, level operatorv1.LogLevel) (*appsv1.Deployment, error) {
	content, err := s.Assets(o.DeploymentAsset)
	if err != nil {
		return nil, err
	}
	pairs := []string{"${LOG_LEVEL}", fmt.Sprint(loglevel.LogLevelToVerbosity(level))}
	for variable, image := range s.Images {
		pairs = append(pairs, "${"+variable+"}", image)
	}
	text := o.ImageReplacer.Replace(strings.NewReplacer(pairs...).Replace(string(content)))
	if i := strings.Index(text, "${"); i >= 0 {
		return nil, fmt.Errorf("%s: no value for %s", o.DeploymentAsset, strings.SplitAfter(text[i:], "}")[0])
	}
	out := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", o.DeploymentAsset, err)
	}
	out.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	return out, nil
}

// rollout is Progressing while pods are replaced. Once they were, it is not: a node that is
// rebooted is no progress.
func rollout(prefix string, d *appsv1.Deployment) *condition.Said {
	kind := prefix + operatorv1.OperatorStatusTypeProgressing
	message := ""
	switch {
	case d.Generation != d.Status.ObservedGeneration:
		message = "Waiting for Deployment to act on changes"
	case rolledOut(d):
	case d.Status.UpdatedReplicas < ptr.Deref(d.Spec.Replicas, 1):
		message = "Waiting for Deployment to update pods"
	case d.Status.UnavailableReplicas > 0 || d.Status.AvailableReplicas < ptr.Deref(d.Spec.Replicas, 1):
		message = "Waiting for Deployment to deploy pods"
	}
	if message == "" {
		return condition.Good(kind)
	}
	return condition.New(kind, operatorv1.ConditionTrue, condition.Deploying, message)
}

// rolledOut says whether the Deployment controller has called the rollout complete. When the template becomes one that was
// there before, it goes on to say so until the first new pod is there.
func rolledOut(d *appsv1.Deployment) bool {
	if d.Status.UpdatedReplicas < d.Status.Replicas {
		return false
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Status == "True" && c.Reason == "NewReplicaSetAvailable"
		}
	}
	return false
}

// unhealthy is an error for a Deployment that will not mend itself.
func unhealthy(d *appsv1.Deployment) error {
	by := map[appsv1.DeploymentConditionType]appsv1.DeploymentCondition{}
	for _, c := range d.Status.Conditions {
		by[c.Type] = c
	}
	progressing, failing, available := by[appsv1.DeploymentProgressing], by[appsv1.DeploymentReplicaFailure], by[appsv1.DeploymentAvailable]
	switch {
	case progressing.Status == "False" && progressing.Reason == "ProgressDeadlineExceeded":
		return fmt.Errorf("the Deployment %s/%s does not get its pods ready: %s", d.Namespace, d.Name, progressing.Message)
	case failing.Status == "True":
		return fmt.Errorf("the Deployment %s/%s cannot create pods: %s", d.Namespace, d.Name, failing.Message)
	case available.Status == "False" && progressing.Status == "False":
		return fmt.Errorf("the Deployment %s/%s is not available and makes no progress: %s", d.Namespace, d.Name, available.Message)
	}
	return nil
}
