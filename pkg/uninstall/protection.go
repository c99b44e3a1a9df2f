package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

// releaseProtection takes this cluster's marks off the pools of every Ceph cluster that a
// Secret declares. It comes last: until then, an operator would put them back.
func releaseProtection(ctx context.Context, o Options) error {
	infraID, err := infrastructureName(ctx, o)
	if err != nil || infraID == "" {
		return err
	}
	secrets, err := o.Kube.CoreV1().Secrets(driver.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Secrets: %w", err)
	}
	for _, s := range secrets.Items {
		if !clusterstorage.IsDeclaration(s.Name, s.Labels) {
			continue
		}
		if err := o.Release(ctx, s.Data, infraID); err != nil {
			return fmt.Errorf("everything else is removed, but pools of the Ceph cluster of Secret %s may still carry this cluster's protection: %w; "+
				"run the command again from where Ceph is reachable, or give that up with --keep-protection", s.Name, err)
		}
		fmt.Fprintf(o.Out, "Released the pools of the Ceph cluster of Secret %s.\n", s.Name)
	}
	return nil
}

// infrastructureName is what marks of this cluster carry.
func infrastructureName(ctx context.Context, o Options) (string, error) {
	infrastructure, err := o.Dynamic.Resource(infrastructures).Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading Infrastructure cluster: %w", err)
	}
	name, _, err := unstructured.NestedString(infrastructure.Object, "status", "infrastructureName")
	return name, err
}
