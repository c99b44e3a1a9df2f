package main

import (
	"context"
	"fmt"

	"github.com/openshift/library-go/pkg/config/client"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
)

// readCertificate waits for the certificate in the Secret that the process makes itself.
func (p process) readCertificate(ctx context.Context) (*servingcerts.Certificate, error) {
	rest, err := client.GetKubeConfigOrInClusterConfig(p.flags.KubeConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	kube, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return nil, fmt.Errorf("creating the Kubernetes client: %w", err)
	}
	certificate, err := servingcerts.Follow(ctx, kube, p.flags.Namespace, p.certificate)
	if ctx.Err() != nil {
		return nil, nil
	}
	return certificate, err
}
