package clusterstorage

import (
	"maps"
	"path"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
)

// upToDate says whether the operator of a driver, and all it has deployed, run the images that
// this process was given, the operator of this version has applied it, and no rollout is under way.
// What an administrator looks after holds up nothing.
func (s starter) upToDate(o operator) bool {
	cr, err := s.clients.operators.Operator().V1().ClusterCSIDrivers().Lister().Get(o.CSIDriverName)
	if err != nil {
		return false
	}
	deployments := s.clients.ns().Apps().V1().Deployments().Lister().Deployments(driver.Namespace)
	own, err := deployments.Get(o.driver.OperatorName())
	if err != nil || !s.deployed(own, s.Getenv(configs.EnvOperatorImage)) {
		return false
	}
	if leftAlone(cr) {
		return true
	}
	images := slices.Collect(maps.Values(s.Images))
	images = append(images, s.Getenv(configs.EnvDriverImage))
	controller, err := deployments.Get(o.driver.ControllerName())
	if err != nil || !s.deployed(controller, images...) || !s.applied(controller) {
		return false
	}
	node, err := s.clients.ns().Apps().V1().DaemonSets().Lister().DaemonSets(driver.Namespace).Get(o.driver.NodeName())
	if err != nil && !apierrors.IsNotFound(err) {
		return false
	}
	return err == nil && s.applied(node) && nodesDeployed(node) && runsOnly(node.Spec.Template.Spec, images) && settled(cr.Status.Conditions)
}

// applied says whether the operator of this version was the last to apply a workload.
func (s starter) applied(workload metav1.Object) bool {
	annotations := workload.GetAnnotations()
	return annotations[driver.VersionAnnotation] == driver.VersionMark(s.Version, annotations)
}

// appliedByOther says whether an operator of another version was the last to apply a workload that is there, and that
// an administrator does not look after.
func (s starter) appliedByOther(o operator) bool {
	cr, err := s.clients.operators.Operator().V1().ClusterCSIDrivers().Lister().Get(o.CSIDriverName)
	if err != nil || leftAlone(cr) {
		return false
	}
	apps := s.clients.ns().Apps().V1()
	controller, controllerErr := apps.Deployments().Lister().Deployments(driver.Namespace).Get(o.driver.ControllerName())
	node, nodeErr := apps.DaemonSets().Lister().DaemonSets(driver.Namespace).Get(o.driver.NodeName())
	return controllerErr == nil && !s.applied(controller) || nodeErr == nil && !s.applied(node)
}

// leftAlone says that the operator of a driver deploys nothing, or that an administrator looks after what it has.
func leftAlone(cr *operatorv1.ClusterCSIDriver) bool {
	_, disabled := disabled(cr.Status.Conditions)
	return disabled || cr.Spec.ManagementState == operatorv1.Unmanaged
}

// deployed says whether a Deployment runs only the images, and completely.
func (s starter) deployed(d *appsv1.Deployment, images ...string) bool {
	progressing := rollout("", d)
	return runsOnly(d.Spec.Template.Spec, images) && *progressing.Status == operatorv1.ConditionFalse && d.Status.AvailableReplicas > 0
}

// nodesDeployed says whether no node pod is to be replaced. With OnDelete, that is up to the
// administrator, and no rollout. A node that is lost later holds nothing up.
func nodesDeployed(d *appsv1.DaemonSet) bool {
	if d.Generation != d.Status.ObservedGeneration {
		return false
	}
	return nodes.RolledOut(d) || d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType ||
		d.Status.UpdatedNumberScheduled == d.Status.DesiredNumberScheduled && d.Status.NumberUnavailable == 0
}

// runsOnly says whether a pod has no images but these. A cluster's policy may have them come from a mirror, or pin a tag
// to its digest: only the last part of a name counts.
func runsOnly(pod corev1.PodSpec, images []string) bool {
	return !slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		runs := path.Base(c.Image)
		return !slices.ContainsFunc(images, func(image string) bool {
			last := path.Base(image)
			return runs == last || strings.HasPrefix(runs, last+"@")
		})
	})
}

// settled says whether a ClusterCSIDriver reports no rollout.
func settled(conditions []operatorv1.OperatorCondition) bool {
	for _, c := range summary("", conditions) {
		if *c.Type == crCondition+operatorv1.OperatorStatusTypeProgressing {
			return *c.Status == operatorv1.ConditionFalse
		}
	}
	return false
}
