package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openshift/library-go/pkg/config/serving"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// TestServingInfo loads what Deployments mount as --config.
func TestServingInfo(t *testing.T) {
	const (
		bare     = "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\n"
		injected = bare + "servingInfo:\n  minTLSVersion: VersionTLS12\n  cipherSuites:\n  - TLS_AES_128_GCM_SHA256\n  - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n"
		modern   = bare + "servingInfo:\n  minTLSVersion: VersionTLS13\n  cipherSuites:\n  - TLS_AES_256_GCM_SHA384\n"
	)
	tests := map[string]struct {
		reason  string
		config  string
		listen  string
		port    int
		version string
		ciphers int
	}{
		"Manifests":  {"what the glue gets on OpenShift", shipped(t, "manifests/03_configmap.yaml"), "", 8443, "VersionTLS12", 0},
		"Kubernetes": {"what the glue gets elsewhere", shipped(t, "manifests/kubernetes/03_configmap.yaml"), "", 8443, "VersionTLS12", 0},
		"RBD":        {"what the operator gets of the glue", shipped(t, "assets/csidriveroperators/ceph-rbd/03_configmap.yaml"), "", 8443, "VersionTLS12", 0},
		"CephFS":     {"what the operator gets of the glue", shipped(t, "assets/csidriveroperators/ceph-cephfs/03_configmap.yaml"), "", 8443, "VersionTLS12", 0},
		"Injected":   {"OpenShift adds the TLS profile, and no address", injected, "", 8443, "VersionTLS12", 2},
		"Modern":     {"no cipher is added to those of the profile", modern, "", 8443, "VersionTLS13", 1},
		"Empty":      {"an empty file is as good as none", "", "", 8443, "VersionTLS12", 0},
		"Listen":     {"--listen is for two operators on one host", bare, "127.0.0.1:8444", 8444, "VersionTLS12", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(tc.config), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := controllercmd.NewControllerFlags()
			flags.ConfigFile, flags.BindAddress = file, tc.listen
			loaded, err := loadConfig(t.Context(), Process{Name: "operator", Flags: flags}, version.Info{})
			if err != nil {
				t.Fatal(err)
			}
			defer loaded.cleanup()
			got, err := serving.ToServingOptions(loaded.generic.ServingInfo)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got.BindPort != tc.port || got.MinTLSVersion != tc.version || tc.ciphers > 0 && len(got.CipherSuites) != tc.ciphers {
				t.Errorf("%s: port %d, %s, ciphers %v", tc.reason, got.BindPort, got.MinTLSVersion, got.CipherSuites)
			}
			if _, err := os.Stat(got.ServerCert.CertKey.CertFile); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestCertificateFromSecret: a process that makes its own certificate has none generated meanwhile,
// and does not end when one is mounted.
func TestCertificateFromSecret(t *testing.T) {
	tests := map[string]struct {
		reason, config string
		fromSecret     bool
	}{
		"Manifests": {"it reads the Secret", shipped(t, "manifests/kubernetes/03_configmap.yaml"), true},
		"Given":     {"somebody has one", "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\nservingInfo: {certFile: a, keyFile: b}\n", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(tc.config), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := controllercmd.NewControllerFlags()
			flags.ConfigFile = file
			loaded, err := loadConfig(t.Context(), Process{Name: "glue", Flags: flags, Certificate: "cert"}, version.Info{})
			if err != nil {
				t.Fatal(err)
			}
			if loaded.fromSecret != tc.fromSecret {
				t.Errorf("%s: from a Secret: %t", tc.reason, loaded.fromSecret)
			}
			if tc.fromSecret && !slices.Equal(loaded.watched, []string{file}) {
				t.Errorf("%s: changes of %q end the process", tc.reason, loaded.watched)
			}
			if generated, err := os.ReadDir(os.TempDir()); err != nil || len(generated) > 0 {
				t.Errorf("%s: generated %v, %v", tc.reason, generated, err)
			}
		})
	}
}

// shipped is the --config file of a ConfigMap.
func shipped(t *testing.T, path string) string {
	t.Helper()
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(content, &configMap); err != nil {
		t.Fatal(err)
	}
	return configMap.Data["config.yaml"]
}
