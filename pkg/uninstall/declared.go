package uninstall

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// declaration says how to reach a Ceph cluster.
type declaration struct {
	// where it was found, for people.
	where string
	// data is what ceph.ParseSource takes.
	data map[string][]byte
	// again are flags, after a blank, that a later run needs to find it.
	again string
}

// declarations are those of Secrets, and of Rook where a ClusterCSIDriver or o.RookNamespaces
// names it. ClusterCSIDrivers are removed, so this comes before.
func declarations(ctx context.Context, o Options) ([]declaration, error) {
	secrets, err := o.Kube.CoreV1().Secrets(driver.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing Secrets: %w", err)
	}
	var out []declaration
	for _, s := range secrets.Items {
		if clusterstorage.IsDeclaration(s.Name, s.Labels) {
			out = append(out, declaration{where: "Secret " + s.Name, data: s.Data})
		}
	}
	namespaces, err := rookNamespaces(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, namespace := range namespaces {
		data, err := readRook(ctx, o, namespace)
		if apierrors.IsNotFound(err) {
			fmt.Fprintf(o.Out, "Rook declares no Ceph cluster in namespace %s any more: nothing is released there.\n", namespace)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading Rook's objects in namespace %s, which lead to the pools to release (--keep-protection goes without): %w", namespace, err)
		}
		out = append(out, declaration{where: "Rook in namespace " + namespace, data: data, again: " with --rook-namespace=" + namespace})
	}
	return out, nil
}

// rookNamespaces are those that the drivers take a Ceph cluster from, sorted.
func rookNamespaces(ctx context.Context, o Options) ([]string, error) {
	out := slices.Clone(o.RookNamespaces)
	for _, d := range o.drivers() {
		cr, err := o.Dynamic.Resource(resources["ClusterCSIDriver"]).Get(ctx, d.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", d.Name, err)
		}
		namespace, _, err := unstructured.NestedString(cr.Object, "spec", "driverConfig", "ceph", "rookNamespace")
		if err != nil {
			return nil, fmt.Errorf("ClusterCSIDriver %s: %w", d.Name, err)
		}
		if namespace != "" {
			out = append(out, namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func readRook(ctx context.Context, o Options, namespace string) (map[string][]byte, error) {
	secret, err := o.Kube.CoreV1().Secrets(namespace).Get(ctx, ceph.RookSecret, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	endpoints, err := o.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, ceph.RookConfigMap, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return ceph.ParseRook(secret.Data, endpoints.Data)
}
