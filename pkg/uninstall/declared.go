package uninstall

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// declaration says how to reach a Ceph cluster.
type declaration struct {
	// where it was found, for people.
	where string
	// data is what ceph.ParseSource takes.
	data map[string][]byte
	// further adds a Ceph cluster; the others are meant for the one in use.
	further bool
}

// declarations are the one given by hand, those of Secrets, and of Rook where a ClusterCSIDriver,
// the settings that were valid last or o.RookNamespaces name it.
func declarations(ctx context.Context, o Options, known memory) ([]declaration, error) {
	var out []declaration
	if o.Declared != nil {
		out = append(out, declaration{where: "--ceph-conf", data: o.Declared, further: true})
	}
	secrets, err := o.Kube.CoreV1().Secrets(driver.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing Secrets: %w", err)
	}
	for _, s := range secrets.Items {
		if configs.IsDeclaration(s.Name, s.Labels) {
			out = append(out, declaration{where: "Secret " + s.Name, data: s.Data, further: s.Name != driver.CredentialsSecret})
		}
	}
	namespaces, err := rookNamespaces(ctx, o, known)
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
			return nil, fmt.Errorf("reading Rook's objects in namespace %s, which lead to the pools to release (--leave-ceph goes without): %w", namespace, err)
		}
		out = append(out, declaration{where: "Rook in namespace " + namespace, data: data})
	}
	return out, nil
}

// connect dials the mons of the declaration and those that are known of the same Ceph cluster: all
// that are declared may have been replaced.
func (d declaration) connect(ctx context.Context, o Options, known memory) (cephCluster, error) {
	source, err := ceph.ParseSource(ctx, d.data, o.Resolve)
	if err != nil {
		return cephCluster{}, err
	}
	meant := source.FSID
	if meant == "" && !d.further && len(known.current) == 1 {
		meant = known.current[0]
	}
	source.Monitors = ceph.UniqueAddresses(slices.Concat(source.Monitors, known.mons[meant]))
	conn, err := o.Dial(ctx, source)
	if err != nil {
		return cephCluster{}, err
	}
	fsid, err := conn.FSID(ctx)
	if err != nil {
		conn.Close()
		return cephCluster{}, err
	}
	return cephCluster{Ceph: conn, fsid: fsid, where: d.where}, nil
}

// rookNamespaces are those that the drivers take a Ceph cluster from, sorted.
func rookNamespaces(ctx context.Context, o Options, known memory) ([]string, error) {
	out := slices.Concat(o.RookNamespaces, known.rook)
	for _, d := range o.drivers() {
		cr, err := wide("ClusterCSIDriver", d.Name).read(ctx, o, resources["ClusterCSIDriver"])
		if err != nil {
			return nil, err
		}
		if cr == nil {
			continue
		}
		namespace, _, err := unstructured.NestedString(cr.Object, "spec", "driverConfig", "ceph", "rookNamespace")
		if err != nil {
			return nil, fmt.Errorf("ClusterCSIDriver %s: %w", d.Name, err)
		}
		out = append(out, namespace)
	}
	return distinct(out), nil
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
