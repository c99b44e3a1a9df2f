package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
	fmt.Fprintf(o.Out, "The patch of CustomResourceDefinition %s stays until the cluster version operator puts its own back; it does no harm.\n", crdName)
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
	_, err := o.Dynamic.Resource(ctrl.CRDs).Get(ctx, crdName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading CustomResourceDefinition %s: %w", crdName, err)
	}
	return true, nil
}
