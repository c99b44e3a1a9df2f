// Package images makes the images that the manifests name from the programs of this repository and
// from sidecars, as archives that containerd imports: no registry and no builder is needed.
package images

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Variables of the manifests' Deployments that name images.
const (
	operatorVariable  = "CEPH_CSI_DRIVER_OPERATOR_IMAGE"
	driverVariable    = "CEPH_CSI_DRIVER_IMAGE"
	registrarVariable = "NODE_DRIVER_REGISTRAR_IMAGE"
	livenessVariable  = "LIVENESS_PROBE_IMAGE"
	proxyVariable     = "KUBE_RBAC_PROXY_IMAGE"
)

// named are the images that the manifests name, by their variables.
func named() (map[string]string, error) {
	root, err := repository.Root()
	if err != nil {
		return nil, err
	}
	return namedIn(filepath.Join(root, "manifests", "10_deployment.yaml"))
}

func namedIn(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(content, &deployment); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	out := map[string]string{}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if strings.HasSuffix(variable.Name, "_IMAGE") {
				out[variable.Name] = variable.Value
			}
		}
		if out[operatorVariable] != container.Image {
			return nil, fmt.Errorf("%s runs %s, but its variable %s names %s", file, container.Image, operatorVariable, out[operatorVariable])
		}
	}
	return out, nil
}
