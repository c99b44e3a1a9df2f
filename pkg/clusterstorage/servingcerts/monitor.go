package servingcerts

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// BundleConfigMap has what clients verify by, in the key BundleKey.
const (
	BundleConfigMap = "ceph-cluster-storage-ca-bundle"
	BundleKey       = "ca-bundle.crt"
)

// tokenFile is in every pod: Prometheus shows who it is.
const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// Monitor rewrites the manifest of a ServiceMonitor for a Prometheus that is not OpenShift's: it
// verifies by BundleConfigMap, and has neither OpenShift's CA nor its client certificate as files.
func Monitor(manifest []byte) ([]byte, error) {
	monitor := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, &monitor.Object); err != nil {
		return nil, fmt.Errorf("parsing a ServiceMonitor: %w", err)
	}
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if err != nil {
		return nil, fmt.Errorf("reading ServiceMonitor %s: %w", monitor.GetName(), err)
	}
	for i := range endpoints {
		endpoint, _ := endpoints[i].(map[string]any)
		name, _, err := unstructured.NestedString(endpoint, "tlsConfig", "serverName")
		if err != nil || name == "" {
			return nil, fmt.Errorf("ServiceMonitor %s: endpoint %d has no tlsConfig.serverName", monitor.GetName(), i)
		}
		endpoint["bearerTokenFile"] = tokenFile
		endpoint["tlsConfig"] = map[string]any{
			"serverName": name,
			"ca":         map[string]any{"configMap": map[string]any{"name": BundleConfigMap, "key": BundleKey}},
		}
	}
	if err := unstructured.SetNestedSlice(monitor.Object, endpoints, "spec", "endpoints"); err != nil {
		return nil, fmt.Errorf("completing ServiceMonitor %s: %w", monitor.GetName(), err)
	}
	out, err := yaml.Marshal(monitor.Object)
	if err != nil {
		return nil, fmt.Errorf("writing ServiceMonitor %s: %w", monitor.GetName(), err)
	}
	return out, nil
}
