package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

// releaseProtection takes this cluster's marks off the pools of every Ceph cluster that is
// declared. It comes last: until then, an operator would put them back.
func releaseProtection(ctx context.Context, o Options, all []declaration) error {
	infraID, err := infrastructureName(ctx, o)
	if err != nil || infraID == "" {
		return err
	}
	for _, d := range all {
		if err := o.Release(ctx, d.data, infraID); err != nil {
			return fmt.Errorf("everything else is removed, but pools of the Ceph cluster of %s may still carry this cluster's protection: %w; "+
				"run the command again%s from where Ceph is reachable, or give that up with --keep-protection", d.where, err, d.again)
		}
		fmt.Fprintf(o.Out, "Released the pools of the Ceph cluster of %s.\n", d.where)
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
