package main

import (
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/standintest"
)

func TestMain(m *testing.M) { standintest.Main(m, main) }

// flags are all that kube-rbac-proxy 0.19 to 0.21 has.
const flags = `add-dir-header allow-paths alsologtostderr auth-header-fields-enabled auth-header-groups-field-name
	auth-header-groups-field-separator auth-header-user-field-name auth-token-audiences client-ca-file config-file help
	http2-disable http2-max-concurrent-streams http2-max-size ignore-paths insecure-listen-address kube-api-burst
	kube-api-qps kubeconfig log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency logtostderr
	oidc-ca-file oidc-clientID oidc-groups-claim oidc-groups-prefix oidc-issuer oidc-sign-alg oidc-username-claim
	oidc-username-prefix one-output proxy-endpoints-port secure-listen-address skip-headers skip-log-headers
	stderrthreshold tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file tls-reload-interval upstream
	upstream-ca-file upstream-client-cert-file upstream-client-key-file upstream-force-h2c v version vmodule`

func TestFlags(t *testing.T) {
	known := map[string]bool{}
	command := newCommand()
	for _, name := range strings.Fields(flags) {
		known[name] = true
		// Those for logs are added when the program starts.
		if command.Flags().Lookup(name) == nil && name != "v" && name != "vmodule" && name != "log-flush-frequency" {
			t.Errorf("--%s is not known", name)
		}
	}
}

// TestRefusals: what the real one refuses ends this one too, at once and with its code.
func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		reason    string
		arguments []string
		says      string
	}{
		"UnknownFlag":     {reason: "a flag of another release", arguments: []string{"--upstream=http://127.0.0.1:1/", "--logtostdout"}, says: "Error: unknown flag: --logtostdout"},
		"Argument":        {reason: "a forgotten dash", arguments: []string{"v=2"}, says: "does not take any arguments"},
		"BadValue":        {reason: "a value of another type", arguments: []string{"--http2-disable=maybe"}, says: "invalid argument"},
		"BothPaths":       {reason: "one of them would be without effect", arguments: []string{"--allow-paths=/a", "--ignore-paths=/b"}, says: "cannot use --allow-paths and --ignore-paths together"},
		"NoAccount":       {reason: "nobody could be asked", arguments: []string{"--secure-listen-address=127.0.0.1:0"}, says: "failed to load kubeconfig"},
		"NoConfigFile":    {reason: "a mount that is missing", arguments: []string{"--kubeconfig=testdata/kubeconfig", "--config-file=/nowhere"}, says: "failed to read the config file"},
		"NoAddress":       {reason: "it would serve nothing", arguments: []string{"--kubeconfig=testdata/kubeconfig"}, says: "no listen address provided"},
		"NoCertificate":   {reason: "a mount that is missing", arguments: []string{"--kubeconfig=testdata/kubeconfig", "--secure-listen-address=127.0.0.1:0", "--tls-cert-file=/nowhere", "--tls-private-key-file=/nowhere"}, says: "failed to initialize certificate reloader"},
		"UnknownTLS":      {reason: "a TLS profile of another program", arguments: []string{"--kubeconfig=testdata/kubeconfig", "--secure-listen-address=127.0.0.1:0", "--tls-min-version=TLSv1.2"}, says: "TLS version invalid"},
		"UnknownCiphers":  {reason: "OpenSSL's names are not Go's", arguments: []string{"--kubeconfig=testdata/kubeconfig", "--secure-listen-address=127.0.0.1:0", "--tls-cipher-suites=ECDHE-RSA-AES128-GCM-SHA256"}, says: "failed to convert TLS cipher suite name to ID"},
		"UnknownUpstream": {reason: "no URL", arguments: []string{"--kubeconfig=testdata/kubeconfig", "--upstream=:"}, says: "failed to parse upstream URL"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := standintest.Start(t, tc.arguments...)
			if code := p.Exit(t); code != 1 || !strings.Contains(p.Output(), tc.says) {
				t.Errorf("%s: exit code %d, output %s; want 1 and %q", tc.reason, code, p.Output(), tc.says)
			}
		})
	}
}
