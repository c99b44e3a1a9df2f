package uninstall

import (
	"context"
	"fmt"

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
	crd, err := wide("CustomResourceDefinition", crdName).read(ctx, o, ctrl.CRDs)
	if err != nil || crd == nil {
		return err
	}
	fmt.Fprintf(o.Out, "The patch of CustomResourceDefinition %s stays until the cluster version operator puts its own back; it does no harm.\n", crdName)
	return nil
}

// withoutOpenShift says whether `cluster-storage` has described this cluster, which is no
// OpenShift then.
func withoutOpenShift(ctx context.Context, o Options) (bool, error) {
	infrastructure, err := wide("Infrastructure", "cluster").read(ctx, o, infrastructures)
	return infrastructure != nil && createdByGlue(infrastructure), err
}
