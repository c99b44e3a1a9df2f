// Package configs describes the operators of both Ceph CSI drivers to cluster-storage-operator (CSO). It is a
// module of its own that requires nothing: whoever vendors it changes the version of nothing else.
package configs

import "strings"

// CSIOperatorConfig has the fields of CSO's csioperatorclient.CSIOperatorConfig, by their names, that differ
// between drivers. Of the others, the operators of Ceph's drivers are for AllPlatforms, are AllowDisabled, and
// have none for HyperShift.
type CSIOperatorConfig struct {
	// CSIDriverName is the name of the CSI driver and of its ClusterCSIDriver.
	CSIDriverName string
	// ConditionPrefix starts the types of the driver's conditions on Storage/cluster.
	ConditionPrefix string
	// StatusFilter says whether to start the operator; isInstalled is whether its ClusterCSIDriver exists.
	StatusFilter func(isInstalled bool) bool
	// StaticAssets are applied in this order.
	StaticAssets []string
	// StandaloneOperatorConfigAsset is a ConfigMap, into which the cluster's TLS profile goes.
	StandaloneOperatorConfigAsset string
	// CRAsset is the ClusterCSIDriver, which is only ever created.
	CRAsset string
	// ServiceMonitorAsset may be of a kind that the cluster does not know.
	ServiceMonitorAsset string
	// DeploymentAsset is the operator.
	DeploymentAsset string
	// ImageReplacer replaces the operator's and the driver's image and their version.
	ImageReplacer *strings.Replacer
	// RequireFeatureGate keeps the operator from starting until the gate is enabled.
	RequireFeatureGate string
}

// Cluster is what the descriptions depend on.
type Cluster struct {
	// Getenv is os.Getenv.
	Getenv func(string) string
	// Declared says whether a Secret declares a Ceph cluster; see Declarations.
	Declared func() bool
	// FeatureGate is the one that CSO's rules ask of drivers that are new; empty: the operators need none.
	FeatureGate string
	// Foreign says whether there is a CSIDriver of that name that is not of an operator of OpenShift's, by
	// IsForeign. Of drivers with a FeatureGate CSO asks that, too, and is Degraded where it is so. Needed with
	// a FeatureGate only: without one, the operators start, and say that they are disabled, and why.
	Foreign func(csiDriver string) bool
}

// Environment variables of CSO's Deployment.
const (
	// EnvOperatorImage has the image of this project, payload tag ceph-csi-driver-operator.
	EnvOperatorImage = "CEPH_CSI_DRIVER_OPERATOR_IMAGE"
	// EnvDriverImage has ceph-csi's image, payload tag ceph-csi-driver.
	EnvDriverImage = "CEPH_CSI_DRIVER_IMAGE"
	// EnvVersion has the version that CSO reports for itself.
	EnvVersion = "OPERATOR_IMAGE_VERSION"
)

// Configs are the configurations of RBD and CephFS. A driver's operator is started where its ClusterCSIDriver
// exists or a Ceph cluster is declared, on every platform.
func Configs(cluster Cluster) []CSIOperatorConfig {
	return []CSIOperatorConfig{
		config("rbd.csi.ceph.com", "CephRBD", "csidriveroperators/ceph-rbd/", cluster),
		config("cephfs.csi.ceph.com", "CephFS", "csidriveroperators/ceph-cephfs/", cluster),
	}
}

// config is the one place that knows about flavours of clusters. HyperShift would need, here,
// CSIDriverDeploymentName, MgmtStaticAssets and MgmtOperatorConfigAsset, and a folder of
// assets for either side; and in the operator a second kubeconfig (--guest-kubeconfig).
func config(name, prefix, dir string, cluster Cluster) CSIOperatorConfig {
	return CSIOperatorConfig{
		CSIDriverName:   name,
		ConditionPrefix: prefix,
		StatusFilter: func(isInstalled bool) bool {
			if cluster.FeatureGate != "" && cluster.Foreign(name) {
				return false
			}
			return isInstalled || cluster.Declared()
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
			"${OPERATOR_IMAGE}", cluster.Getenv(EnvOperatorImage),
			"${DRIVER_IMAGE}", cluster.Getenv(EnvDriverImage),
			"${OPERATOR_IMAGE_VERSION}", cluster.Getenv(EnvVersion),
		),
		RequireFeatureGate: cluster.FeatureGate,
	}
}

// IsForeign says of a CSIDriver, by its annotations, what CSO says: an operator of OpenShift's did not make it.
func IsForeign(annotations map[string]string) bool {
	_, managed := annotations["csi.openshift.io/managed"]
	return !managed
}
