// Command cdi runs the controller of StorageProfiles of KubeVirt's containerized data importer,
// and nothing else of it, against the cluster that KUBECONFIG names. It is a module of its own,
// so that none of its dependencies reach the product.
package main

import (
	"fmt"
	"os"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v6/apis/volumesnapshot/v1"
	configv1 "github.com/openshift/api/config/v1"
	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"
	"kubevirt.io/containerized-data-importer/pkg/controller"
	metrics "kubevirt.io/containerized-data-importer/pkg/monitoring/metrics/cdi-controller"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	log := klog.Background()
	ctrl.SetLogger(log)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, cdiv1.AddToScheme, extensionsv1.AddToScheme, snapshotv1.AddToScheme, configv1.Install,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("scheme: %w", err)
		}
	}
	if err := metrics.SetupMetrics(); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if _, err := controller.NewStorageProfileController(manager, log, map[string]string{}); err != nil {
		return fmt.Errorf("controller of StorageProfiles: %w", err)
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
