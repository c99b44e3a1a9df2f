package clusterstorage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestInjectProxy(t *testing.T) {
	tests := map[string]struct {
		reason string
		proxy  *configv1.Proxy
		want   []corev1.EnvVar
	}{
		"None":     {reason: "most clusters have no proxy", proxy: &configv1.Proxy{}},
		"NoObject": {reason: "clusters without OpenShift's singletons have none, too"},
		"Some": {
			reason: "what is empty is left out, and the order stands still",
			proxy:  &configv1.Proxy{Status: configv1.ProxyStatus{HTTPSProxy: "https://proxy:1", NoProxy: ".svc"}},
			want:   []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "https://proxy:1"}, {Name: "NO_PROXY", Value: ".svc"}},
		},
		"SpecOnly": {
			reason: "the spec lacks the cluster's own addresses, which only the status excepts",
			proxy:  &configv1.Proxy{Spec: configv1.ProxySpec{HTTPProxy: "http://proxy:1"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := filled()
			for _, o := range s.operators() {
				d, err := s.render(o, operatorv1.Normal)
				if err != nil {
					t.Fatal(err)
				}
				before := slices.Clone(d.Spec.Template.Spec.Containers[0].Env)
				injectProxy(d, tc.proxy)
				if diff := cmp.Diff(append(before, tc.want...), d.Spec.Template.Spec.Containers[0].Env); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}
