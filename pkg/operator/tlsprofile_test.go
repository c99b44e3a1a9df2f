package operator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/crypto"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivercontrollerservicecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestTLSProfile renders the controllers with what the config observer makes of a profile.
func TestTLSProfile(t *testing.T) {
	profile := func(minimum configv1.TLSProtocolVersion, ciphers ...string) configv1.TLSProfileSpec {
		return configv1.TLSProfileSpec{MinTLSVersion: minimum, Ciphers: ciphers}
	}
	const required = "ECDHE-RSA-AES128-GCM-SHA256 or ECDHE-ECDSA-AES128-GCM-SHA256"
	tests := map[string]struct {
		reason  string
		profile configv1.TLSProfileSpec
		// ciphers is the argument that kube-rbac-proxy gets; empty is none.
		ciphers string
		refused string
	}{
		"Intermediate": {"the default has what HTTP/2 demands", *configv1.TLSProfiles[configv1.TLSProfileIntermediateType], "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ""},
		"Old":          {"the weakest has it, too", *configv1.TLSProfiles[configv1.TLSProfileOldType], "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ""},
		"Modern":       {"TLS 1.3 by name", *configv1.TLSProfiles[configv1.TLSProfileModernType], "TLS_AES_128_GCM_SHA256", ""},
		"Custom13":     {"OpenShift's API server refuses ciphers for TLS 1.3, where nobody can choose", profile(configv1.VersionTLS13), "", ""},
		"Unknown13":    {"what Go does not know is of no account there, either", profile(configv1.VersionTLS13, "DHE-RSA-AES128-GCM-SHA256"), "", ""},
		"Enough":       {"one of the two is enough", profile(configv1.VersionTLS12, "ECDHE-ECDSA-AES128-GCM-SHA256"), "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", ""},
		"NoMinimum":    {"library-go takes the default for it", profile("", "ECDHE-RSA-AES128-GCM-SHA256"), "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ""},
		"None":         {"library-go would leave its placeholder", profile(configv1.VersionTLS12), "", required},
		"Strong":       {"kube-rbac-proxy does not start without one that HTTP/2 demands", profile(configv1.VersionTLS12, "ECDHE-RSA-AES256-GCM-SHA384"), "", required},
		"NamesOf13":    {"those do not count for TLS 1.2", profile(configv1.VersionTLS12, "TLS_AES_128_GCM_SHA256"), "", required},
	}
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "example.com/" + name
	}
	set, err := assets.New(assets.Values{Driver: driver.RBD, Images: images})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			observed, err := json.Marshal(map[string]any{"targetcsiconfig": map[string]any{"servingInfo": map[string]any{
				"minTLSVersion": tc.profile.MinTLSVersion, "cipherSuites": crypto.OpenSSLToIANACipherSuites(tc.profile.Ciphers),
			}}})
			if err != nil {
				t.Fatal(err)
			}
			spec := &operatorv1.OperatorSpec{ObservedConfig: runtime.RawExtension{Raw: observed}}
			manifest, err := csidrivercontrollerservicecontroller.WithServingInfo()(spec, set.Controller())
			if err != nil {
				t.Fatal(err)
			}
			deployment := resourceread.ReadDeploymentV1OrDie(manifest)
			err = withTLSProfile(spec, deployment)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) || !strings.Contains(err.Error(), "APIServer/cluster") {
					t.Errorf("%s: got error %v, want one that asks for %s", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			proxies := 0
			for _, c := range deployment.Spec.Template.Spec.Containers {
				if !strings.HasPrefix(c.Name, "kube-rbac-proxy") {
					continue
				}
				proxies++
				i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--tls-cipher-suites") })
				if (i >= 0) != (tc.ciphers != "") || i >= 0 && !strings.Contains(c.Args[i], tc.ciphers) {
					t.Errorf("%s: %s gets %q", tc.reason, c.Name, c.Args)
				}
			}
			if proxies < 5 {
				t.Errorf("%d containers of kube-rbac-proxy", proxies)
			}
		})
	}
}
