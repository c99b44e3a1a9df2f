package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/csi/csiconfigobservercontroller"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withTLSProfile leaves ciphers to Go where the cluster's TLS profile has none: OpenShift's API server
// refuses to have any named for TLS 1.3, and library-go leaves its placeholder then. It refuses what
// keeps kube-rbac-proxy from starting, as that API server does, and one of Kubernetes' own does not.
func withTLSProfile(spec *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
	observed := map[string]any{}
	if err := json.Unmarshal(spec.ObservedConfig.Raw, &observed); err != nil {
		return fmt.Errorf("reading the TLS profile in spec.observedConfig: %w", err)
	}
	minimum, _, versionErr := unstructured.NestedString(observed, csiconfigobservercontroller.MinTLSVersionPath()...)
	ciphers, _, ciphersErr := unstructured.NestedStringSlice(observed, csiconfigobservercontroller.CipherSuitesPath()...)
	if err := errors.Join(versionErr, ciphersErr); err != nil {
		return fmt.Errorf("reading the TLS profile in spec.observedConfig: %w", err)
	}
	if minimum != string(configv1.VersionTLS13) && !slices.ContainsFunc(ciphers, demandedByHTTP2) {
		return errors.New("the TLS profile in APIServer/cluster must name ECDHE-RSA-AES128-GCM-SHA256 or ECDHE-ECDSA-AES128-GCM-SHA256, which HTTP/2 demands below TLS 1.3")
	}
	if len(ciphers) > 0 {
		return nil
	}
	for i, container := range deployment.Spec.Template.Spec.Containers {
		deployment.Spec.Template.Spec.Containers[i].Args = slices.DeleteFunc(container.Args, func(argument string) bool {
			return strings.Contains(argument, "${TLS_CIPHER_SUITES}")
		})
	}
	return nil
}

// demandedByHTTP2 says of a cipher, by its IANA name, that it is one of the two of which each server has one:
// https://www.rfc-editor.org/rfc/rfc9113#section-9.2.2
func demandedByHTTP2(cipher string) bool {
	return cipher == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" || cipher == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
}
