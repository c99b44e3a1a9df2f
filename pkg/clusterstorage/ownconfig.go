package clusterstorage

import (
	"context"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// ownConfig writes the cluster's TLS profile into the ConfigMap that this process itself is started with, as the
// cluster version operator does where it installs it. The process restarts itself when its file changes.
func (s starter) ownConfig() factory.Controller {
	servers, configMaps := s.clients.configInformers.Config().V1().APIServers(), s.clients.ns().Core().V1().ConfigMaps()
	return s.controller(controller{
		name: "CephClusterStorageConfig", always: true, quiet: true,
		informers: []factory.Informer{servers.Informer(), configMaps.Informer()},
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			server, err := servers.Lister().Get(instance)
			if apierrors.IsNotFound(err) || !s.managed() {
				return nil
			}
			if err != nil {
				return fmt.Errorf("reading APIServer/%s: %w", instance, err)
			}
			configMap, err := configMaps.Lister().ConfigMaps(driver.Namespace).Get(Name + "-config")
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("reading ConfigMap %s-config: %w", Name, err)
			}
			text, changed, err := withProfile(configMap.Data[configKey], server.Spec.TLSSecurityProfile)
			if err != nil || !changed {
				return err
			}
			configMap = configMap.DeepCopy()
			configMap.Data = map[string]string{configKey: text}
			if _, err := s.clients.kube.CoreV1().ConfigMaps(driver.Namespace).Update(ctx, configMap, metav1.UpdateOptions{}); err != nil {
				return fmt.Errorf("writing ConfigMap %s: %w", configMap.Name, err)
			}
			return nil
		},
	})
}

// withProfile gives a configuration the TLS settings of a profile. Who has the same already, in whatever
// order, keeps every byte; so does who has none while the cluster is content with the default.
func withProfile(text string, profile *configv1.TLSSecurityProfile) (string, bool, error) {
	var held struct {
		ServingInfo configv1.ServingInfo `json:"servingInfo"`
	}
	whole := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &held); err != nil {
		return "", false, fmt.Errorf("parsing %s of ConfigMap %s-config: %w", configKey, Name, err)
	}
	if err := yaml.Unmarshal([]byte(text), &whole); err != nil {
		return "", false, fmt.Errorf("parsing %s of ConfigMap %s-config: %w", configKey, Name, err)
	}
	wanted := tlsSettings(profile)
	unset := held.ServingInfo.MinTLSVersion == "" && len(held.ServingInfo.CipherSuites) == 0
	same := held.ServingInfo.MinTLSVersion == wanted.minimum &&
		slices.Equal(slices.Sorted(slices.Values(held.ServingInfo.CipherSuites)), slices.Sorted(slices.Values(wanted.ciphers)))
	if same || unset && (profile == nil || profile.Type == "" || profile.Type == configv1.TLSProfileIntermediateType) {
		return text, false, nil
	}
	info, _ := whole["servingInfo"].(map[string]any)
	if info == nil {
		info = map[string]any{}
	}
	info["minTLSVersion"], info["cipherSuites"], whole["servingInfo"] = wanted.minimum, wanted.ciphers, info
	out, err := yaml.Marshal(whole)
	if err != nil {
		return "", false, fmt.Errorf("writing %s of ConfigMap %s-config: %w", configKey, Name, err)
	}
	return string(out), true, nil
}
