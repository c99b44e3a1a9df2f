// Package openshift makes a plain Kubernetes look like OpenShift to a storage operator: nodes,
// CRDs, singletons, namespaces, shared roles, and stand-ins for the controllers whose work it sees.
package openshift

import (
	"context"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	"golang.org/x/sync/errgroup"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// startTimeout is far above what a machine needs that runs other suites meanwhile.
const startTimeout = 5 * time.Minute

// CSINamespace is the namespace of CSI driver operators and their operands.
const CSINamespace = "openshift-cluster-csi-drivers"

// Look is what the cluster pretends to be; all members are required.
type Look struct {
	// InfrastructureName is the infra ID.
	InfrastructureName string
	Platform           configv1.PlatformType
	Topology           configv1.TopologyMode
	Nodes              Nodes
	// APIServer is the URL of the API server.
	APIServer string
	// Repository is the folder with the project's assets and manifests, SnapshotCRDs a folder with the
	// CRDs of external-snapshotter.
	Repository, SnapshotCRDs string
	// OperatorRBAC says whether the operators' ServiceAccounts and roles are applied.
	OperatorRBAC bool
}

// OpenShift changes what a cluster looks like while it runs.
type OpenShift struct {
	look     Look
	kube     kubernetes.Interface
	dynamic  dynamic.Interface
	config   configclient.ConfigV1Interface
	operator operatorclient.OperatorV1Interface
	crds     apiextensions.ApiextensionsV1Interface
}

// Create makes the cluster of admin, who may do everything, look like OpenShift. It returns when nodes
// are ready, CRDs are served and pods can be created in CSINamespace.
func Create(ctx context.Context, admin *rest.Config, look Look) (*OpenShift, error) {
	o, err := connect(admin, look)
	if err != nil {
		return nil, err
	}
	return o, o.create(ctx)
}

func connect(admin *rest.Config, look Look) (*OpenShift, error) {
	o := &OpenShift{look: look}
	var err error
	if o.kube, err = kubernetes.NewForConfig(admin); err != nil {
		return nil, err
	}
	if o.dynamic, err = dynamic.NewForConfig(admin); err != nil {
		return nil, err
	}
	if o.config, err = configclient.NewForConfig(admin); err != nil {
		return nil, err
	}
	if o.operator, err = operatorclient.NewForConfig(admin); err != nil {
		return nil, err
	}
	o.crds, err = apiextensions.NewForConfig(admin)
	return o, err
}

func (o *OpenShift) create(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return CreateNodes(ctx, o.kube, o.look.Nodes) })
	group.Go(func() error {
		crds, err := LoadCRDs(ctx, o.look.Repository, o.look.SnapshotCRDs)
		if err != nil {
			return err
		}
		if err := CreateCRDs(ctx, o.crds.CustomResourceDefinitions(), crds); err != nil {
			return err
		}
		return o.createSingletons(ctx)
	})
	group.Go(func() error {
		if err := o.applyManifests(ctx); err != nil {
			return err
		}
		return o.waitDefaultServiceAccount(ctx)
	})
	return group.Wait()
}

func (o *OpenShift) applyManifests(ctx context.Context) error {
	objects, err := ownObjects(o.look.Repository)
	if err != nil {
		return err
	}
	if o.look.OperatorRBAC {
		rbac, err := operatorRBAC(o.look.Repository)
		if err != nil {
			return err
		}
		objects = append(objects, rbac...)
	}
	return apply(ctx, o.dynamic, objects)
}

// waitDefaultServiceAccount waits for what kube-controller-manager makes in each namespace:
// without it, pods are refused.
func (o *OpenShift) waitDefaultServiceAccount(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := o.kube.CoreV1().ServiceAccounts(CSINamespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("ServiceAccount default of namespace %s: %w", CSINamespace, err)
	}
	return nil
}
