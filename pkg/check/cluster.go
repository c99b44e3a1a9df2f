package check

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

const (
	driversCRD = "clustercsidrivers.operator.openshift.io"
	sccCRD     = "securitycontextconstraints.security.openshift.io"
)

var (
	infrastructureResource = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	storageResource        = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "storages"}
	driverResource         = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}
	sccResource            = schema.GroupVersionResource{Group: "security.openshift.io", Version: "v1", Resource: "securitycontextconstraints"}
)

// privilegedSCC is what node pods are admitted by.
const privilegedSCC = "privileged"

// gatherCluster asks Kubernetes; when that does not answer at all, nothing more is asked.
func gatherCluster(ctx context.Context, config Config) clusterFacts {
	c := clusterFacts{
		crds:       map[string]fact[*unstructured.Unstructured]{},
		csiDrivers: map[string]fact[*storagev1.CSIDriver]{},
		resources:  map[string]fact[*unstructured.Unstructured]{},
	}
	if config.Cluster == nil {
		return c
	}
	kube, timeout := config.Cluster.Kube, config.CallTimeout
	c.version = ask(ctx, timeout, func(ctx context.Context) (string, error) { return serverVersion(ctx, config) })
	if !c.version.known() {
		return c
	}
	object := func(resource schema.GroupVersionResource, name string) fact[*unstructured.Unstructured] {
		return ask(ctx, timeout, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return orNone(config.Cluster.Dynamic.Resource(resource).Get(ctx, name, metav1.GetOptions{}))
		})
	}
	c.namespace = ask(ctx, timeout, func(ctx context.Context) (*corev1.Namespace, error) {
		return orNone(kube.CoreV1().Namespaces().Get(ctx, driver.Namespace, metav1.GetOptions{}))
	})
	c.secret = ask(ctx, timeout, config.Cluster.secret)
	c.classes = ask(ctx, timeout, func(ctx context.Context) ([]*storagev1.StorageClass, error) {
		list, err := kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		var classes []*storagev1.StorageClass
		for i := range list.Items {
			classes = append(classes, &list.Items[i])
		}
		return classes, nil
	})
	c.infrastructure = object(infrastructureResource, "cluster")
	c.storage = object(storageResource, "cluster")
	c.scc = object(sccResource, privilegedSCC)
	for _, name := range append([]string{driversCRD, sccCRD, virtualization.ProfilesCRD, groupSnapshotsCRD}, snapshotCRDs...) {
		c.crds[name] = object(ctrl.CRDs, name)
	}
	c.snapshots = ask(ctx, timeout, func(ctx context.Context) (snapshotFacts, error) { return gatherSnapshots(ctx, config) })
	for _, d := range config.Drivers {
		c.resources[d.Name] = object(driverResource, d.Name)
		c.csiDrivers[d.Name] = ask(ctx, timeout, func(ctx context.Context) (*storagev1.CSIDriver, error) {
			return orNone(kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{}))
		})
	}
	c.gatherMachines(ctx, config)
	c.gatherKernels(ctx, config)
	c.gatherImages(ctx, config)
	return c
}

// serverVersion has a deadline, which the discovery client's own method has not.
func serverVersion(ctx context.Context, config Config) (string, error) {
	type answer struct {
		version string
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		info, err := config.Cluster.Kube.Discovery().ServerVersion()
		if err != nil {
			answers <- answer{err: err}
			return
		}
		answers <- answer{version: info.GitVersion}
	}()
	select {
	case a := <-answers:
		return a.version, a.err
	case <-ctx.Done():
		return "", errors.New("no answer in time")
	}
}

// orNone makes what does not exist nil, also when its kind is not served.
func orNone[T any](object *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object, nil
}

// class finds a StorageClass; nil when there is none.
func (c clusterFacts) class(name string) *storagev1.StorageClass {
	i := slices.IndexFunc(c.classes.value, func(class *storagev1.StorageClass) bool { return class.Name == name })
	if i < 0 {
		return nil
	}
	return c.classes.value[i]
}
