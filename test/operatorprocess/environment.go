package operatorprocess

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	servingConfig = "config.yaml"
	temporary     = "tmp"

	// binaryVariable names a binary to use instead of the one that `make build` makes.
	binaryVariable = "OPERATOR_BINARY"

	// Version is the OpenShift release that the operator believes to belong to.
	Version = "4.23.0"
)

// Images are what the operator is told to deploy. Nobody pulls them.
func Images() map[string]string {
	return map[string]string{
		"DRIVER_IMAGE":                "registry.example.com/ceph-csi:v3.17.0",
		"PROVISIONER_IMAGE":           "registry.example.com/csi-external-provisioner:v6.0.0",
		"ATTACHER_IMAGE":              "registry.example.com/csi-external-attacher:v4.10.0",
		"RESIZER_IMAGE":               "registry.example.com/csi-external-resizer:v2.0.0",
		"SNAPSHOTTER_IMAGE":           "registry.example.com/csi-external-snapshotter:v8.4.0",
		"LIVENESS_PROBE_IMAGE":        "registry.example.com/csi-livenessprobe:v2.17.0",
		"NODE_DRIVER_REGISTRAR_IMAGE": "registry.example.com/csi-node-driver-registrar:v2.15.0",
		"KUBE_RBAC_PROXY_IMAGE":       "registry.example.com/kube-rbac-proxy:v0.20.0",
	}
}

// Environment are the variables that the operator's Deployment sets. The pod name is always
// the same, so that a killed operator finds its own lease.
func Environment(d driver.Driver) map[string]string {
	variables := Images()
	variables["OPERATOR_NAME"] = d.OperatorName()
	variables["OPERATOR_IMAGE_VERSION"] = Version
	variables["POD_NAME"] = d.OperatorName() + "-0"
	return variables
}

// Binary is the path of the operator that `make build` makes, or of the one that the
// environment variable OPERATOR_BINARY names.
func Binary() (string, error) {
	path := os.Getenv(binaryVariable)
	if path == "" {
		root, err := repository.Root()
		if err != nil {
			return "", err
		}
		path = filepath.Join(root, "bin", "ceph-csi-driver-operator")
	}
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no %s: run `make build`, or name another operator in %s", path, binaryVariable)
	}
	if err != nil {
		return "", fmt.Errorf("the operator's binary: %w", err)
	}
	return path, nil
}

// writeServingConfig gives the operator a port of its own, where in pods each has 8443, and a
// serving certificate, which in pods the service CA makes. It returns host and port.
func writeServingConfig(dir string, config map[string]any) (string, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return "", fmt.Errorf("a port for the operator: %w", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	authority, err := controlplane.NewAuthority("operator")
	if err != nil {
		return "", fmt.Errorf("a certificate for the operator: %w", err)
	}
	serving, err := authority.Server("127.0.0.1")
	if err != nil {
		return "", fmt.Errorf("a certificate for the operator: %w", err)
	}
	certificate, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if config == nil {
		config = map[string]any{"apiVersion": "operator.openshift.io/v1alpha1", "kind": "GenericOperatorConfig"}
	}
	info, _ := config["servingInfo"].(map[string]any)
	if info == nil {
		info = map[string]any{}
	}
	info["bindAddress"], info["bindNetwork"] = address, "tcp"
	info["certFile"], info["keyFile"] = certificate, key
	config["servingInfo"] = info
	content, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("the operator's --config: %w", err)
	}
	for file, data := range map[string][]byte{
		filepath.Join(dir, servingConfig): content, certificate: serving.Certificate, key: serving.Key,
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return "", fmt.Errorf("the operator's --config: %w", err)
		}
	}
	return address, nil
}
