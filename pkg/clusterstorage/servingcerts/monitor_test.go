package servingcerts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestMonitor(t *testing.T) {
	const metadata = "kind: ServiceMonitor\nmetadata: {name: m}\n"
	const verified = `{serverName: a.svc, ca: {configMap: {name: ceph-cluster-storage-ca-bundle, key: ca-bundle.crt}}}`
	const token = `bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token`
	tests := map[string]struct {
		reason, manifest, want string
		fails                  bool
	}{
		"ClientCertificate": {
			reason:   "only OpenShift's Prometheus has one",
			manifest: `spec: {jobLabel: j, endpoints: [{port: p, scheme: https, tlsConfig: {caFile: /etc/ca, serverName: a.svc, certFile: /etc/c, keyFile: /etc/k}}]}`,
			want:     `spec: {jobLabel: j, endpoints: [{port: p, scheme: https, ` + token + `, tlsConfig: ` + verified + `}]}`,
		},
		"Token": {
			reason:   "every Prometheus has that of its ServiceAccount",
			manifest: `spec: {endpoints: [{` + token + `, tlsConfig: {caFile: /etc/ca, serverName: a.svc}}, {port: q, tlsConfig: {serverName: a.svc}}]}`,
			want:     `spec: {endpoints: [{` + token + `, tlsConfig: ` + verified + `}, {port: q, ` + token + `, tlsConfig: ` + verified + `}]}`,
		},
		"Nameless":  {reason: "nothing could be verified", manifest: `spec: {endpoints: [{tlsConfig: {caFile: /etc/ca}}]}`, fails: true},
		"Shapeless": {reason: "no list", manifest: `spec: {endpoints: 1}`, fails: true},
		"Broken":    {reason: "no YAML", manifest: `{`, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := Monitor([]byte(metadata + tc.manifest))
			if (err != nil) != tc.fails {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			if tc.fails {
				return
			}
			var got, want map[string]any
			if err := yaml.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(metadata+tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
