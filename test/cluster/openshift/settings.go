package openshift

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// SetTopology changes what Infrastructure says about the control plane. The nodes stay.
func (o *OpenShift) SetTopology(ctx context.Context, mode configv1.TopologyMode) error {
	return o.setInfrastructure(ctx, func(status *configv1.InfrastructureStatus) {
		status.ControlPlaneTopology = mode
		status.InfrastructureTopology = infrastructureTopology(mode)
	})
}

// SetPlatform changes the platform that Infrastructure names.
func (o *OpenShift) SetPlatform(ctx context.Context, platform configv1.PlatformType) error {
	return o.setInfrastructure(ctx, func(status *configv1.InfrastructureStatus) {
		//lint:ignore SA1019 the deprecated member is set on every real cluster
		status.Platform = platform
		status.PlatformStatus = &configv1.PlatformStatus{Type: platform}
	})
}

func (o *OpenShift) setInfrastructure(ctx context.Context, change func(*configv1.InfrastructureStatus)) error {
	return retried("Infrastructure cluster", func() error {
		current, err := o.config.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&current.Status)
		_, err = o.config.Infrastructures().UpdateStatus(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

// SetProxy changes the cluster-wide proxy. Operators read the status; the empty status means
// no proxy.
func (o *OpenShift) SetProxy(ctx context.Context, proxy configv1.ProxyStatus) error {
	return retried("Proxy cluster", func() error {
		current, err := o.config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		current.Spec.HTTPProxy, current.Spec.HTTPSProxy, current.Spec.NoProxy = proxy.HTTPProxy, proxy.HTTPSProxy, proxy.NoProxy
		if current, err = o.config.Proxies().Update(ctx, current, metav1.UpdateOptions{}); err != nil {
			return err
		}
		current.Status = proxy
		_, err = o.config.Proxies().UpdateStatus(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

// SetTLSProfile changes the cluster's TLS profile; nil means the default one.
func (o *OpenShift) SetTLSProfile(ctx context.Context, profile *configv1.TLSSecurityProfile) error {
	return o.changeAPIServer(ctx, func(spec *configv1.APIServerSpec) { spec.TLSSecurityProfile = profile })
}

// SetTLSAdherence changes who has to follow the TLS profile, where the CRD knows that field: it does with the
// feature gate TLSAdherence.
func (o *OpenShift) SetTLSAdherence(ctx context.Context, policy configv1.TLSAdherencePolicy) error {
	return o.changeAPIServer(ctx, func(spec *configv1.APIServerSpec) { spec.TLSAdherence = policy })
}

func (o *OpenShift) changeAPIServer(ctx context.Context, change func(*configv1.APIServerSpec)) error {
	return retried("APIServer cluster", func() error {
		current, err := o.config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&current.Spec)
		_, err = o.config.APIServers().Update(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

func retried(object string, change func() error) error {
	if err := retry.RetryOnConflict(retry.DefaultRetry, change); err != nil {
		return fmt.Errorf("changing %s: %w", object, err)
	}
	return nil
}
