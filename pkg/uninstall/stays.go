package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var (
	clusterVersions = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	crds            = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

const crdName = "clustercsidrivers.operator.openshift.io"

// tellWhatStays names what an administrator made, with the command that removes it.
func tellWhatStays(ctx context.Context, o Options) error {
	_, err := o.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, driver.CredentialsSecret, metav1.GetOptions{})
	if err == nil {
		fmt.Fprintf(o.Out, "The Secret with your Ceph user stays: `oc delete secret %s -n %s`.\n", driver.CredentialsSecret, driver.Namespace)
	}
	plain, err := withoutOpenShift(ctx, o)
	if err != nil {
		return err
	}
	if plain {
		fmt.Fprintf(o.Out, "The namespace %s, the custom resource definitions and Infrastructure cluster stay: the infra ID of this cluster is there, by which its volumes are found. "+
			"If you need neither them nor the Secret again: `kubectl delete -f manifests/kubernetes/ --ignore-not-found`.\n", driver.Namespace)
		return nil
	}
	defined, err := crdExists(ctx, o)
	if err != nil || !defined {
		return err
	}
	index, found, err := override(ctx, o)
	if err != nil {
		return err
	}
	if !found {
		fmt.Fprintf(o.Out, "The patch of CustomResourceDefinition %s stays until the cluster version operator puts its own back; it does no harm.\n", crdName)
		return nil
	}
	fmt.Fprintf(o.Out, "The override in ClusterVersion stays and blocks cluster upgrades. Remove it, and the cluster version operator undoes the patch of "+
		"CustomResourceDefinition %s: `oc patch clusterversion version --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/overrides/%d\"}]'`.\n", crdName, index)
	return nil
}

// withoutOpenShift says whether `cluster-storage` has described this cluster, which is no
// OpenShift then.
func withoutOpenShift(ctx context.Context, o Options) (bool, error) {
	infrastructure, err := o.Dynamic.Resource(infrastructures).Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading Infrastructure cluster: %w", err)
	}
	return createdByGlue(infrastructure), nil
}

// crdExists says whether there is a CRD that may be patched.
func crdExists(ctx context.Context, o Options) (bool, error) {
	_, err := o.Dynamic.Resource(crds).Get(ctx, crdName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading CustomResourceDefinition %s: %w", crdName, err)
	}
	return true, nil
}

// override finds the one that keeps the patch of the CRD.
func override(ctx context.Context, o Options) (int, bool, error) {
	version, err := o.Dynamic.Resource(clusterVersions).Get(ctx, "version", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("reading ClusterVersion version: %w", err)
	}
	overrides, _, err := unstructured.NestedSlice(version.Object, "spec", "overrides")
	if err != nil {
		return 0, false, fmt.Errorf("overrides of ClusterVersion version: %w", err)
	}
	for i, entry := range overrides {
		if fields, ok := entry.(map[string]any); ok && fields["name"] == crdName && fields["unmanaged"] == true {
			return i, true, nil
		}
	}
	return 0, false, nil
}
