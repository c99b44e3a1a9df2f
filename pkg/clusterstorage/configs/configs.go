// Package configs describes the operators of both Ceph CSI drivers in the terms of
// cluster-storage-operator (CSO), which can vendor this package: it imports openshift/api,
// library-go and the standard library, nothing of this project and no cgo.
package configs

import (
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
)

// CSIOperatorConfig has the fields of CSO's csioperatorclient.CSIOperatorConfig: the same
// names, types and order, so that one converts to the other. A field that CSO adds is then a
// compile error there.
type CSIOperatorConfig struct {
	// CSIDriverName is the name of the CSI driver and of its ClusterCSIDriver.
	CSIDriverName string
	// CSIDriverDeploymentName is for HyperShift only.
	CSIDriverDeploymentName string
	// ConditionPrefix starts the types of the driver's conditions on Storage/cluster.
	ConditionPrefix string
	// Platform that the driver is for.
	Platform configv1.PlatformType
	// StatusFilter says whether to start the operator; isInstalled is whether its
	// ClusterCSIDriver exists.
	StatusFilter func(status *configv1.InfrastructureStatus, isInstalled bool) bool
	// StaticAssets are applied in this order.
	StaticAssets []string
	// MgmtStaticAssets are for HyperShift only.
	MgmtStaticAssets []string
	// StandaloneOperatorConfigAsset is a ConfigMap, into which the cluster's TLS profile goes.
	StandaloneOperatorConfigAsset string
	// MgmtOperatorConfigAsset is for HyperShift only.
	MgmtOperatorConfigAsset string
	// CRAsset is the ClusterCSIDriver, which is only ever created.
	CRAsset string
	// ServiceMonitorAsset may be of a kind that the cluster does not know.
	ServiceMonitorAsset string
	// DeploymentAsset is the operator.
	DeploymentAsset string
	// ImageReplacer replaces the operator's and the driver's image and their version.
	ImageReplacer *strings.Replacer
	// AllowDisabled says that a driver that reports Disabled is as good as one that runs.
	AllowDisabled bool
	// ExtraControllers run beside the operator.
	ExtraControllers []factory.Controller
	// RequireFeatureGate keeps the operator from starting until the gate is enabled.
	RequireFeatureGate configv1.FeatureGateName
}

// allPlatforms is csioperatorclient.AllPlatforms.
const allPlatforms configv1.PlatformType = "AllPlatforms"

// Environment variables of CSO's Deployment.
const (
	// EnvOperatorImage has the image of this project, payload tag ceph-csi-driver-operator.
	EnvOperatorImage = "CEPH_CSI_DRIVER_OPERATOR_IMAGE"
	// EnvDriverImage has ceph-csi's image, payload tag ceph-csi-driver.
	EnvDriverImage = "CEPH_CSI_DRIVER_IMAGE"
	// EnvVersion has the version that CSO reports for itself.
	EnvVersion = "OPERATOR_IMAGE_VERSION"
)

// Configs are the configurations of RBD and CephFS. A driver's operator is started where its
// ClusterCSIDriver exists or a Ceph cluster is declared, on every platform: declared says
// whether there is a Secret that does so (see IsDeclaration). getenv is os.Getenv.
func Configs(getenv func(string) string, declared func() bool) []CSIOperatorConfig {
	return []CSIOperatorConfig{
		config("rbd.csi.ceph.com", "CephRBD", "csidriveroperators/ceph-rbd/", getenv, declared),
		config("cephfs.csi.ceph.com", "CephFS", "csidriveroperators/ceph-cephfs/", getenv, declared),
	}
}

// config is the one place that knows about flavours of clusters. HyperShift would need, here,
// CSIDriverDeploymentName, MgmtStaticAssets and MgmtOperatorConfigAsset, and a folder of
// assets for either side; and in the operator a second kubeconfig (--guest-kubeconfig).
func config(name, prefix, dir string, getenv func(string) string, declared func() bool) CSIOperatorConfig {
	return CSIOperatorConfig{
		CSIDriverName:   name,
		ConditionPrefix: prefix,
		Platform:        allPlatforms,
		StatusFilter: func(_ *configv1.InfrastructureStatus, isInstalled bool) bool {
			return isInstalled || declared()
		},
		StaticAssets: []string{
			dir + "01_service.yaml",
			dir + "02_sa.yaml",
			dir + "03_role.yaml",
			dir + "04_rolebinding.yaml",
			dir + "05_clusterrole.yaml",
			dir + "05_clusterrole_elsewhere.yaml",
			dir + "05_clusterrole_images.yaml",
			dir + "05_clusterrole_machines.yaml",
			dir + "05_clusterrole_modules.yaml",
			dir + "05_clusterrole_rook.yaml",
			dir + "06_clusterrolebinding.yaml",
			dir + "10_prometheus_role.yaml",
			dir + "11_prometheus_rolebinding.yaml",
		},
		StandaloneOperatorConfigAsset: dir + "03_configmap.yaml",
		CRAsset:                       dir + "08_cr.yaml",
		ServiceMonitorAsset:           dir + "09_servicemonitor.yaml",
		DeploymentAsset:               dir + "07_deployment.yaml",
		ImageReplacer: strings.NewReplacer(
			"${OPERATOR_IMAGE}", getenv(EnvOperatorImage),
			"${DRIVER_IMAGE}", getenv(EnvDriverImage),
			"${OPERATOR_IMAGE_VERSION}", getenv(EnvVersion),
		),
		AllowDisabled: true,
	}
}
