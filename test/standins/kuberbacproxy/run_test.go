package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/standintest"
)

// served is a proxy that runs as in a pod, with files of its own.
type served struct {
	*standintest.Program
	dir, url  string
	authority *controlplane.Authority
}

func serve(t *testing.T, arguments ...string) served {
	t.Helper()
	ports, err := process.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	s := served{dir: t.TempDir(), url: fmt.Sprintf("https://127.0.0.1:%d", ports[0])}
	if s.authority, err = controlplane.NewAuthority("test"); err != nil {
		t.Fatal(err)
	}
	s.renew(t)
	api := httptest.NewServer(&apiServer{allowed: metricsOnly})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "metrics of ", r.URL.Path) }))
	t.Cleanup(api.Close)
	t.Cleanup(upstream.Close)
	kubeconfig, err := os.ReadFile("testdata/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "kubeconfig", []byte(strings.Replace(string(kubeconfig), "http://127.0.0.1:1", api.URL, 1)))
	s.Program = standintest.Start(t, append(arguments,
		fmt.Sprintf("--secure-listen-address=127.0.0.1:%d", ports[0]),
		fmt.Sprintf("--proxy-endpoints-port=%d", ports[1]),
		"--upstream="+upstream.URL+"/",
		"--tls-cert-file="+filepath.Join(s.dir, "tls", "tls.crt"),
		"--tls-private-key-file="+filepath.Join(s.dir, "tls", "tls.key"),
		"--tls-reload-interval=50ms",
		"--kubeconfig="+filepath.Join(s.dir, "kubeconfig"))...)
	s.Eventually(t, "it serves", func() bool {
		response, err := s.client(&tls.Config{}).Get(fmt.Sprintf("https://127.0.0.1:%d/healthz", ports[1]))
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return s
}

func (s served) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// renew changes both files in one step, as the kubelet does.
func (s served) renew(t *testing.T) {
	t.Helper()
	pair, err := s.authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp(s.dir, "pair-*")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, filepath.Join(filepath.Base(folder), "tls.crt"), pair.Certificate)
	s.write(t, filepath.Join(filepath.Base(folder), "tls.key"), pair.Key)
	if err := os.Symlink(folder, folder+".link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder+".link", filepath.Join(s.dir, "tls")); err != nil {
		t.Fatal(err)
	}
}

func (s served) client(config *tls.Config) *http.Client {
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AppendCertsFromPEM(s.authority.PEM())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

func (s served) get(t *testing.T, config *tls.Config) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := s.client(config).Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return response, err
}

// TestServe runs it with a TLS profile, as the manifests do.
func TestServe(t *testing.T) {
	s := serve(t, "--tls-min-version=VersionTLS12", "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	tests := map[string]struct {
		reason string
		config *tls.Config
		fails  bool
	}{
		"Modern":      {reason: "what Prometheus does", config: &tls.Config{}},
		"TLS12":       {reason: "the profile's lowest version", config: &tls.Config{MaxVersion: tls.VersionTLS12}},
		"TLS11":       {reason: "below the profile", config: &tls.Config{MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, fails: true},
		"OtherCipher": {reason: "not in the profile", config: &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, err := s.get(t, tc.config)
			if (err != nil) != tc.fails || err == nil && response.StatusCode != http.StatusOK {
				t.Errorf("%s: got %v, %v", tc.reason, response, err)
			}
		})
	}
	s.Signal(t, syscall.SIGTERM)
	if code := s.Exit(t); code != 0 {
		t.Errorf("ended with %d on SIGTERM", code)
	}
}

// TestCiphersWithoutHTTP2: Go's HTTP/2 refuses what lacks its own, below TLS 1.3.
func TestCiphersWithoutHTTP2(t *testing.T) {
	s := standintest.Start(t, "--kubeconfig=testdata/kubeconfig", "--secure-listen-address=127.0.0.1:0", "--upstream=http://127.0.0.1:1/",
		"--tls-min-version=VersionTLS12", "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")
	if code := s.Exit(t); code == 0 || !strings.Contains(s.Output(), "HTTP/2-required AES_128_GCM_SHA256") {
		t.Errorf("ended with %d", code)
	}
}

// TestRenewedCertificate: service-ca renews certificates while pods run.
func TestRenewedCertificate(t *testing.T) {
	s := serve(t)
	before, err := s.get(t, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.renew(t)
	s.Eventually(t, "the new certificate is served", func() bool {
		after, err := s.get(t, &tls.Config{})
		return err == nil && after.TLS.PeerCertificates[0].SerialNumber.Cmp(before.TLS.PeerCertificates[0].SerialNumber) != 0
	})
}
