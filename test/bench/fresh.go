package main

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
)

// written are the kinds that an installation leaves behind, its owner first: a Secret that
// goes before its Service would be made again.
var written = []schema.GroupVersionResource{
	clusterCSIDrivers,
	deployments, daemonSets,
	{Version: "v1", Resource: "services"},
	secrets,
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	{Group: "groupsnapshot.storage.k8s.io", Version: "v1beta2", Resource: "volumegroupsnapshotclasses"},
	{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
	snapshotClasses, storageClasses,
	pods,
}

// object is the address of one.
type object struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// objects are those of the written kinds, in the drivers' namespace and outside of any.
func (b *bench) objects(ctx context.Context) (map[object]bool, error) {
	out := map[object]bool{}
	for _, resource := range written {
		list, err := b.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for _, o := range list.Items {
			if o.GetNamespace() == "" || o.GetNamespace() == driver.Namespace {
				out[object{resource, o.GetNamespace(), o.GetName()}] = true
			}
		}
	}
	return out, nil
}

// fresh stops the operators and returns when nothing of either driver is left, in Kubernetes
// and in Ceph.
func (b *bench) fresh(ctx context.Context) error {
	for _, d := range driver.All {
		if err := b.stopOperator(ctx, d); err != nil {
			return err
		}
	}
	if err := b.removeObjects(ctx); err != nil {
		return err
	}
	return b.removeFromCeph(ctx)
}

// removeFromCeph takes back what the operators made there.
func (b *bench) removeFromCeph(ctx context.Context) error {
	const infraID, pool = embedded.DefaultInfrastructureName, embedded.DefaultInfrastructureName + "-rbd"
	commands := [][]string{
		{"osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it"},
		{"fs", "subvolumegroup", "rm", cephdaemons.Filesystem, infraID, "--force"},
	}
	for _, d := range driver.All {
		for _, user := range []string{d.ProvisionerUser(infraID), d.NodeUser(infraID)} {
			commands = append(commands, []string{"auth", "rm", "client." + user})
		}
	}
	// Before the first run there is no pool; any other fault shows when the pool is to go.
	_, _ = b.cluster.Ceph().Command(ctx, "osd", "pool", "set", pool, "nodelete", "false")
	for _, command := range commands {
		if _, err := b.cluster.Ceph().Command(ctx, command...); err != nil {
			return err
		}
	}
	return nil
}

// removeObjects deletes what was not there before, until nothing comes back.
func (b *bench) removeObjects(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		now, err := b.objects(ctx)
		if err != nil {
			return err
		}
		left := 0
		for o := range now {
			if b.found[o] {
				continue
			}
			left++
			if o.resource == pods {
				continue
			}
			err := b.dynamic.Resource(o.resource).Namespace(o.namespace).Delete(ctx, o.name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("deleting %s %s: %w", o.resource.Resource, o.name, err)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d objects of the drivers do not go away: %w", left, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// declare creates the Secret that declares the Ceph cluster, unless there is one.
func (b *bench) declare(ctx context.Context) error {
	ceph := b.cluster.Ceph()
	_, err := b.kube.CoreV1().Secrets(driver.Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret},
		StringData: map[string]string{"ceph.conf": ceph.Conf(), "keyring": ceph.Keyring()},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating Secret %s: %w", driver.CredentialsSecret, err)
	}
	return nil
}

// createDriver creates the ClusterCSIDriver as cluster-storage-operator would, unless there is one.
func (b *bench) createDriver(ctx context.Context, d driver.Driver) error {
	_, err := b.drivers.Create(ctx, &operatorv1.ClusterCSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: d.Name},
		Spec: operatorv1.ClusterCSIDriverSpec{OperatorSpec: operatorv1.OperatorSpec{
			ManagementState: operatorv1.Managed, LogLevel: operatorv1.Normal, OperatorLogLevel: operatorv1.Normal,
		}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating ClusterCSIDriver %s: %w", d.Name, err)
	}
	return nil
}
