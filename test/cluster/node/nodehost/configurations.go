package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

// pluginFolders are where distributions put the plugins of CNI.
var pluginFolders = []string{"/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"}

// A container may not get a lower OOM score than containerd has itself: not every machine's root may give one.
const containerdConfiguration = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "` + containerdSocket + `"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$SANDBOX"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$PLUGINS"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`

// Eviction and image collection would judge the machine's disk, which is not the cluster's alone.
const kubeletConfiguration = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
failSwapOn: false
containerRuntimeEndpoint: unix://` + containerdSocket + `
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $CLIENT_CA}
authorization: {mode: Webhook}
tlsCertFile: $SERVING_CERT
tlsPrivateKeyFile: $SERVING_KEY
clusterDNS: [$CLUSTER_DNS]
clusterDomain: $CLUSTER_DOMAIN
resolvConf: $RESOLV_CONF
maxPods: 50
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%, imagefs.inodesFree: 0%}
`

// The machine's limits of connections are none of the cluster's business.
const proxyConfiguration = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: $PROXY_KUBECONFIG}
detectLocalMode: ClusterCIDR
clusterCIDR: $ALL_PODS
hostnameOverride: $NODE
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`

const dnsConfiguration = `.:53 {
  errors
  kubernetes $CLUSTER_DOMAIN in-addr.arpa {
    kubeconfig $DNS_KUBECONFIG
  }
}
`

const podNetworkConfiguration = `{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
      "ipam": {"type": "host-local", "ranges": [[{"subnet": "$PODS"}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

func configFile(n wire.Node, name string) string { return filepath.Join(n.Dir, name) }

func writeConfigurations(n wire.Node) error {
	plugins, err := pluginFolder()
	if err != nil {
		return err
	}
	values := strings.NewReplacer(
		"$SANDBOX", n.Software.Sandbox, "$PLUGINS", plugins,
		"$CLIENT_CA", n.Credentials.ClientCA, "$SERVING_CERT", n.Credentials.ServingCert, "$SERVING_KEY", n.Credentials.ServingKey,
		"$CLUSTER_DNS", n.Credentials.ClusterDNS, "$CLUSTER_DOMAIN", n.Credentials.ClusterDomain,
		"$RESOLV_CONF", configFile(n, "resolv.conf"),
		"$PROXY_KUBECONFIG", n.Credentials.KubeProxy, "$DNS_KUBECONFIG", n.Credentials.DNS,
		"$ALL_PODS", n.Network.Pods, "$PODS", n.Member.Pods, "$NODE", n.Member.Name)
	files := map[string]string{
		configFile(n, "containerd.toml"):  containerdConfiguration,
		configFile(n, "kubelet.yaml"):     kubeletConfiguration,
		configFile(n, "kube-proxy.yaml"):  proxyConfiguration,
		configFile(n, "Corefile"):         dnsConfiguration,
		configFile(n, "resolv.conf"):      "",
		"/etc/cni/net.d/10-pods.conflist": podNetworkConfiguration,
	}
	var errs []error
	for file, content := range files {
		errs = append(errs, os.WriteFile(file, []byte(values.Replace(content)), 0o644))
	}
	return errors.Join(errs...)
}

func pluginFolder() (string, error) {
	for _, dir := range pluginFolders {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no plugins of CNI in %q: run `make dependencies-nodes`", pluginFolders)
}
