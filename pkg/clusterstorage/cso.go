package clusterstorage

import (
	"context"
	"fmt"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// The Deployment of CSO.
const (
	csoNamespace = "openshift-cluster-storage-operator"
	csoName      = "cluster-storage-operator"
)

// CSOKnowsCeph says whether the cluster has a CSO that knows Ceph.
func CSOKnowsCeph(ctx context.Context, client kubernetes.Interface) (bool, error) {
	cso, err := client.AppsV1().Deployments(csoNamespace).Get(ctx, csoName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading Deployment %s/%s: %w", csoNamespace, csoName, err)
	}
	return knowsCeph(cso), nil
}

// knowsCeph says whether a CSO was told which image the operators of Ceph's drivers have. What it has once
// written into Storage/cluster outlives it.
func knowsCeph(cso *appsv1.Deployment) bool {
	return slices.ContainsFunc(cso.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == configs.EnvOperatorImage })
	})
}

// csoInformers watch the Deployment of CSO alone.
func csoInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithNamespace(csoNamespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, csoName).String()
		}))
}

// otherGlue says whether there is a CSO that knows Ceph: then it, and not we, looks after the drivers.
func (s starter) otherGlue() bool {
	cso, err := s.clients.cso.Apps().V1().Deployments().Lister().Deployments(csoNamespace).Get(csoName)
	return err == nil && knowsCeph(cso)
}

// reports says whether ClusterOperator storage is ours to write: a CSO writes it, too, with a version and related
// objects of its own.
func (s starter) reports() bool { return s.ReportClusterOperator && !s.besideCSO() }

// besideCSO says whether there is a CSO, whatever it knows.
func (s starter) besideCSO() bool {
	_, err := s.clients.cso.Apps().V1().Deployments().Lister().Deployments(csoNamespace).Get(csoName)
	return !apierrors.IsNotFound(err)
}

// reportedByCSO tells that --report-cluster-operator has no effect.
func reportedByCSO() *condition.Said {
	return condition.New(condition.ClusterOperatorReported, operatorv1.ConditionFalse, condition.ReportedByCSO, fmt.Sprintf(
		"Deployment %s/%s writes ClusterOperator %s, so %s leaves that alone. Remove its argument --report-cluster-operator: apply what `make release` writes without REPORT=yes",
		csoNamespace, csoName, clusterOperatorName, Name))
}
