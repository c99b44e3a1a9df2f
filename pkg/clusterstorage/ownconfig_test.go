package clusterstorage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
)

func TestWithProfile(t *testing.T) {
	const bare = "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\n"
	modern := &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType}
	intermediate := &configv1.TLSSecurityProfile{Type: configv1.TLSProfileIntermediateType}
	const injected = bare + "servingInfo:\n  cipherSuites: [TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384]\n  minTLSVersion: VersionTLS13\n"
	const bound = bare + "leaderElection:\n  disable: false\nservingInfo:\n  bindAddress: 127.0.0.1:8443\n"
	tests := map[string]struct {
		reason  string
		held    string
		profile *configv1.TLSSecurityProfile
		want    []string // parts of what is written; nil: nothing is
	}{
		"Default":  {"the process has it without being told, and need not restart after its first start", bare, nil, nil},
		"Named":    {"the default by its name", bare, intermediate, nil},
		"Modern":   {"a stricter one", bare, modern, []string{"kind: GenericOperatorConfig", "minTLSVersion: VersionTLS13", "- TLS_AES_128_GCM_SHA256"}},
		"Injected": {"the cluster version operator has written it in its own way, and would do so again", injected, modern, nil},
		"Back":     {"an administrator took it back", injected, nil, []string{"minTLSVersion: VersionTLS12", "ECDHE"}},
		"Others":   {"what else stands there stays", bound, modern, []string{"leaderElection:", "bindAddress: 127.0.0.1:8443", "minTLSVersion: VersionTLS13"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, changed, err := withProfile(tc.held, tc.profile)
			if err != nil || changed != (tc.want != nil) || !changed && got != tc.held {
				t.Fatalf("%s: %t, %v: %s", tc.reason, changed, err, got)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is missing in\n%s", tc.reason, want, got)
				}
			}
			if again, changed, err := withProfile(got, tc.profile); err != nil || changed {
				t.Errorf("%s: written twice: %v: %s", tc.reason, err, again)
			}
		})
	}
	if _, _, err := withProfile("servingInfo: [", modern); err == nil {
		t.Error("what cannot be read must not be overwritten")
	}
}
