package servingcerts

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Certificate is the one in a Secret, for the server of the process that has the Secret made: a pod
// that mounted it would see it a minute later. It implements
// dynamiccertificates.CertKeyContentProvider; new ones are served without a restart.
type Certificate struct {
	namespace, name string
	// there is closed with the first certificate.
	there chan struct{}

	mu        sync.Mutex
	pair, key []byte
	listeners []dynamiccertificates.Listener
}

// Follow returns when the Secret has a certificate, and follows it until ctx ends.
func Follow(ctx context.Context, client kubernetes.Interface, namespace, name string) (*Certificate, error) {
	c := &Certificate{namespace: namespace, name: name, there: make(chan struct{})}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}))
	_, err := factory.Core().V1().Secrets().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.take, UpdateFunc: func(_, secret any) { c.take(secret) },
	})
	if err != nil {
		return nil, fmt.Errorf("watching Secret %s: %w", name, err)
	}
	factory.Start(ctx.Done())
	select {
	case <-c.there:
		return c, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the serving certificate in Secret %s: %w", name, ctx.Err())
	}
}

// take keeps the last usable pair: what is damaged is made anew, which is an event of its own.
func (c *Certificate) take(object any) {
	secret, ok := object.(*corev1.Secret)
	if !ok || secret.Name != c.name {
		return
	}
	pair, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if _, err := tls.X509KeyPair(pair, key); err != nil {
		klog.Warningf("Secret %s has no certificate that could be served: %v", c.name, err)
		return
	}
	c.mu.Lock()
	first := c.pair == nil
	c.pair, c.key = pair, key
	listeners := c.listeners
	c.mu.Unlock()
	if first {
		close(c.there)
	}
	for _, l := range listeners {
		l.Enqueue()
	}
}

// Name implements dynamiccertificates.CertKeyContentProvider.
func (c *Certificate) Name() string { return "secret::" + c.namespace + "/" + c.name }

// CurrentCertKeyContent implements dynamiccertificates.CertKeyContentProvider.
func (c *Certificate) CurrentCertKeyContent() (pair, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pair, c.key
}

// AddListener implements dynamiccertificates.Notifier.
func (c *Certificate) AddListener(listener dynamiccertificates.Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, listener)
}
