package main

import (
	"strings"
	"testing"
)

func TestClusterStorageOptions(t *testing.T) {
	full := func() map[string]string {
		env := map[string]string{}
		for _, name := range []string{
			"CEPH_CSI_DRIVER_OPERATOR_IMAGE", "CEPH_CSI_DRIVER_IMAGE", "OPERATOR_IMAGE_VERSION", "PROVISIONER_IMAGE", "ATTACHER_IMAGE",
			"RESIZER_IMAGE", "SNAPSHOTTER_IMAGE", "LIVENESS_PROBE_IMAGE", "NODE_DRIVER_REGISTRAR_IMAGE", "KUBE_RBAC_PROXY_IMAGE",
		} {
			env[name] = "example.com/" + strings.ToLower(name) + ":1"
		}
		return env
	}
	tests := map[string]struct {
		reason string
		change func(map[string]string)
		want   string
	}{
		"Full":        {"all that manifests/10_deployment.yaml sets is enough", func(map[string]string) {}, ""},
		"Missing":     {"what is missing is named, all at once", func(e map[string]string) { delete(e, "RESIZER_IMAGE"); delete(e, "CEPH_CSI_DRIVER_IMAGE") }, "CEPH_CSI_DRIVER_IMAGE, RESIZER_IMAGE"},
		"Placeholder": {"a template that was not filled in must not reach the API server", func(e map[string]string) { e["CEPH_CSI_DRIVER_IMAGE"] = "${DRIVER_IMAGE}" }, "CEPH_CSI_DRIVER_IMAGE is not an image"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			env := full()
			tc.change(env)
			o, err := clusterStorageOptions(func(name string) string { return env[name] })
			switch {
			case tc.want == "" && (err != nil || len(o.Images) != 7 || len(o.SharedRoles) != 9):
				t.Errorf("%s: %v; images %v", tc.reason, err, o.Images)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
