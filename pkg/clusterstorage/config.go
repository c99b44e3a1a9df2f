package clusterstorage

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"github.com/openshift/library-go/pkg/crypto"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"sigs.k8s.io/yaml"
)

// configKey is the file that the operator gets as --config.
const configKey = "config.yaml"

// applyConfig writes the operator's ConfigMap with the cluster's TLS profile. The operator
// restarts itself when that file changes.
func (s starter) applyConfig(ctx context.Context, o operator) error {
	content, err := s.Assets(o.StandaloneOperatorConfigAsset)
	if err != nil {
		return err
	}
	server, err := s.clients.configInformers.Config().V1().APIServers().Lister().Get(instance)
	if err != nil {
		return fmt.Errorf("reading APIServer/%s: %w", instance, err)
	}
	configMap := resourceread.ReadConfigMapV1OrDie(content)
	config, err := servingConfig(server.Spec.TLSSecurityProfile)
	if err != nil {
		return err
	}
	configMap.Data = map[string]string{configKey: config}
	_, _, err = resourceapply.ApplyConfigMap(ctx, s.clients.kube.CoreV1(), s.recorder, configMap)
	return err
}

// tlsOptions are what servers are told of a TLS profile.
type tlsOptions struct {
	minimum string
	ciphers []string
}

// tlsSettings are those of a profile; no profile, or an unknown one, means Intermediate. APIServer's
// tlsAdherence need not be asked: it allows components that do not follow the profile yet to go on so, and
// every server here follows it.
func tlsSettings(profile *configv1.TLSSecurityProfile) tlsOptions {
	spec := configv1.TLSProfiles[configv1.TLSProfileIntermediateType]
	if profile != nil && profile.Type == configv1.TLSProfileCustomType && profile.Custom != nil {
		spec = &profile.Custom.TLSProfileSpec
	} else if profile != nil && configv1.TLSProfiles[profile.Type] != nil {
		spec = configv1.TLSProfiles[profile.Type]
	}
	return tlsOptions{string(spec.MinTLSVersion), crypto.OpenSSLToIANACipherSuites(spec.Ciphers)}
}

// servingConfig is a GenericOperatorConfig with the TLS settings of a profile.
func servingConfig(profile *configv1.TLSSecurityProfile) (string, error) {
	settings := tlsSettings(profile)
	out, err := yaml.Marshal(map[string]any{
		"apiVersion":  operatorv1alpha1.SchemeGroupVersion.String(),
		"kind":        "GenericOperatorConfig",
		"servingInfo": map[string]any{"minTLSVersion": settings.minimum, "cipherSuites": settings.ciphers},
	})
	if err != nil {
		return "", fmt.Errorf("writing the operator's configuration: %w", err)
	}
	return string(out), nil
}
