package assets_test

import (
	"slices"
	"strings"
)

func words(text ...string) []string { return strings.Fields(strings.Join(text, " ")) }

// klogFlags are those that klog adds to ceph-csi and to the older sidecars.
var klogFlags = words(`add_dir_header alsologtostderr log_backtrace_at log_dir log_file log_file_max_size logtostderr
	one_output skip_headers skip_log_headers stderrthreshold v vmodule`)

// cephCSI314 are the flags of ceph-csi 3.14, from the flag definitions in its cmd/cephcsi.go
// and the arguments of its Helm charts.
var cephCSI314 = words(`type endpoint drivername drivernamespace nodeid pluginpath stagingpath clustername setmetadata
	instanceid pidlimit controllerserver nodeserver domainlabels enable-read-affinity crush-location-labels
	forcecephkernelclient kernelmountoptions radosnamespacecephfs fusemountoptions metricsport metricspath polltime
	timeout logslowopinterval rbdhardmaxclonedepth rbdsoftmaxclonedepth maxsnapshotsonimage minsnapshotsonimage
	skipforceflatten version enableprofiling csi-addons-endpoint`)

// standardFlags are those that csi-lib-utils registers for all sidecars.
var standardFlags = words(`version kubeconfig csi-address leader-election leader-election-namespace
	leader-election-lease-duration leader-election-renew-deadline leader-election-retry-period leader-election-labels
	kube-api-qps kube-api-burst http-endpoint metrics-address metrics-path automaxprocs v vmodule logging-format`)

// olderStandardFlags are what sidecars had of them when each defined its own.
var olderStandardFlags = without(standardFlags, "leader-election-labels")

var (
	provisioner60 = words(`capacity-for-immediate-binding capacity-ownerref-level capacity-poll-interval capacity-threads
		cloning-protection-threads controller-publish-readonly default-fstype enable-capacity enable-pprof
		extra-create-metadata feature-gates immediate-topology kube-api-capacity-burst kube-api-capacity-qps master
		node-deployment node-deployment-base-delay node-deployment-immediate-binding node-deployment-max-delay
		prevent-volume-mode-conversion retry-interval-max retry-interval-start strict-topology timeout
		volume-name-prefix volume-name-uuid-length worker-threads`)
	attacher410 = words(`default-fstype feature-gates max-entries max-grpc-log-length reconcile-sync resync
		retry-interval-max retry-interval-start timeout worker-threads`)
	resizer20 = words(`extra-modify-metadata feature-gates handle-volume-inuse-error master resync-period
		retry-interval-max retry-interval-start timeout workers`)
	snapshotter84 = words(`extra-create-metadata feature-gates groupsnapshot-name-prefix groupsnapshot-name-uuid-length
		node-deployment resync-period retry-interval-max retry-interval-start snapshot-name-prefix
		snapshot-name-uuid-length timeout worker-threads`)
	registrar215 = words(`automaxprocs connection-timeout csi-address enable-pprof health-port http-endpoint
		kubelet-registration-path mode plugin-registration-path timeout v version vmodule`)
	livenessProbe215 = words(`csi-address health-port http-endpoint metrics-address metrics-path probe-timeout v vmodule`)
	kubeRBACProxy    = words(`allow-paths auth-header-fields-enabled auth-header-groups-field-name
		auth-header-groups-field-separator auth-header-user-field-name auth-token-audiences client-ca-file config-file
		http2-disable http2-max-concurrent-streams http2-max-size ignore-paths insecure-listen-address kubeconfig
		proxy-endpoints-port secure-listen-address tls-cert-file tls-cipher-suites tls-min-version
		tls-private-key-file tls-reload-interval upstream upstream-ca-file upstream-client-cert-file
		upstream-client-key-file v`)
)

// releases are the flags that the programs of the operands accept, by the variable of their
// image and by release: all that OpenShift or an administrator may put there.
var releases = map[string]map[string][]string{
	"DRIVER_IMAGE": {
		"3.14": slices.Concat(klogFlags, cephCSI314),
		"3.15": slices.Concat(klogFlags, cephCSI314, words("automaxprocs enable-fencing")),
		"3.16": slices.Concat(klogFlags, cephCSI314, words("automaxprocs enable-fencing")),
		// setmetadata is accepted and does nothing.
		"3.17": slices.Concat(klogFlags, cephCSI314, words("automaxprocs enable-fencing feature-gates")),
		"3.18": slices.Concat(klogFlags, cephCSI314, words("automaxprocs enable-fencing feature-gates")),
	},
	"PROVISIONER_IMAGE": {
		"6.0": slices.Concat(olderStandardFlags, provisioner60),
		"6.2": slices.Concat(standardFlags, provisioner60),
		"6.3": slices.Concat(standardFlags, provisioner60, words("snapshot-orphan-sweep-interval")),
	},
	"ATTACHER_IMAGE": {
		"4.10": slices.Concat(olderStandardFlags, attacher410),
		"4.12": slices.Concat(standardFlags, attacher410),
	},
	"RESIZER_IMAGE": {
		"2.0": slices.Concat(olderStandardFlags, resizer20),
		"2.2": slices.Concat(standardFlags, resizer20),
	},
	"SNAPSHOTTER_IMAGE": {
		"8.4": slices.Concat(olderStandardFlags, snapshotter84),
		"8.6": slices.Concat(standardFlags, snapshotter84),
	},
	"NODE_DRIVER_REGISTRAR_IMAGE": {"2.15": registrar215, "2.17": registrar215},
	"LIVENESS_PROBE_IMAGE":        {"2.15": livenessProbe215, "2.19": livenessProbe215},
	"KUBE_RBAC_PROXY_IMAGE":       {"0.19": kubeRBACProxy},
}

// gates are the feature gates that the sidecars know, by the variable of their image and by
// release, from their pkg/features/features.go. ReleaseLeaderElectionOnExit came with exactly
// these first releases.
var gates = map[string]map[string][]string{
	"PROVISIONER_IMAGE": {
		"6.0": words("Topology HonorPVReclaimPolicy", provisionerGates),
		"6.2": words("Topology", provisionerGates),
		"6.3": words("Topology", provisionerGates),
	},
	"ATTACHER_IMAGE": {
		"4.10": words("MutableCSINodeAllocatableCount ReleaseLeaderElectionOnExit"),
		"4.12": words("MutableCSINodeAllocatableCount ReleaseLeaderElectionOnExit"),
	},
	"RESIZER_IMAGE": {
		"2.0": words(resizerGates),
		"2.2": words(resizerGates),
	},
	"SNAPSHOTTER_IMAGE": {
		"8.4": words("CSIVolumeGroupSnapshot ReleaseLeaderElectionOnExit"),
		"8.6": words("CSIVolumeGroupSnapshot ReleaseLeaderElectionOnExit"),
	},
}

const (
	provisionerGates = " CrossNamespaceVolumeDataSource VolumeAttributesClass ReleaseLeaderElectionOnExit"
	resizerGates     = "AnnotateFsResize RecoverVolumeExpansionFailure VolumeAttributesClass ReleaseLeaderElectionOnExit"
)

func without(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == gone })
}
