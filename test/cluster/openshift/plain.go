package openshift

import (
	"context"
	"os"

	"golang.org/x/sync/errgroup"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// CreatePlain gives the cluster of admin nodes and the CRDs of external-snapshotter, which lie in
// the folder snapshotCRDs, and nothing of OpenShift.
func CreatePlain(ctx context.Context, admin *rest.Config, nodes Nodes, snapshotCRDs string) error {
	kube, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	client, err := apiextensions.NewForConfig(admin)
	if err != nil {
		return err
	}
	contents := map[string][]byte{}
	if err := readFiles(contents, os.DirFS(snapshotCRDs), "*.yaml"); err != nil {
		return err
	}
	crds, err := parseCRDs(contents, func(_ string, crd []byte) ([]byte, error) { return crd, nil })
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return CreateNodes(ctx, kube, nodes) })
	group.Go(func() error { return CreateCRDs(ctx, client.CustomResourceDefinitions(), crds) })
	return group.Wait()
}
