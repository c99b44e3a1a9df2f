package standins

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

const (
	// injectBundle is the label of ConfigMaps that get the trusted CA bundle.
	injectBundle = "config.openshift.io/inject-trusted-cabundle=true"
	bundleKey    = "ca-bundle.crt"
)

func (s *StandIns) trustedBundles() *loop {
	l := newLoop("trusted CA bundle", s.ensureBundle)
	labelled := func(o *metav1.ListOptions) { o.LabelSelector = injectBundle }
	l.watch(coreinformers.NewFilteredConfigMapInformer(s.client, metav1.NamespaceAll, 0, nil, labelled), func(object any) string {
		configMap, ok := object.(*corev1.ConfigMap)
		if !ok {
			return ""
		}
		return cache.NewObjectName(configMap.Namespace, configMap.Name).String()
	})
	return l
}

// SetTrustedCABundle returns when all labelled ConfigMaps have the bundle, which is PEM.
func (s *StandIns) SetTrustedCABundle(ctx context.Context, bundle string) error {
	s.mu.Lock()
	s.bundle = bundle
	s.mu.Unlock()
	configMaps, err := s.client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: injectBundle})
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range configMaps.Items {
		errs = append(errs, s.ensureBundle(ctx, cache.NewObjectName(c.Namespace, c.Name).String()))
	}
	return errors.Join(errs...)
}

// TrustedCABundle is the bundle that ConfigMaps get now, in PEM.
func (s *StandIns) TrustedCABundle() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bundle
}

func (s *StandIns) ensureBundle(ctx context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return err
	}
	configMaps := s.client.CoreV1().ConfigMaps(name.Namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := configMaps.Get(ctx, name.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		bundle := s.TrustedCABundle()
		if err != nil || current.Data[bundleKey] == bundle {
			return err
		}
		if current.Data == nil {
			current.Data = map[string]string{}
		}
		current.Data[bundleKey] = bundle
		_, err = configMaps.Update(ctx, current, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
