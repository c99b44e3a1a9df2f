package servingcerts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	"github.com/openshift/library-go/pkg/operator/certrotation"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

// usable looks at the certificate itself, too: library-go goes by the annotations that it has
// written beside.
type usable struct{ *certrotation.ServingRotation }

// NeedNewTargetCertKeyPair implements certrotation.TargetCertCreator. It returns why a new
// certificate is needed; empty is that none is.
func (u usable) NeedNewTargetCertKeyPair(secret *corev1.Secret, signer *crypto.CA, trusted []*x509.Certificate, refresh time.Duration, onlyExpired, missing bool) string {
	why := u.ServingRotation.NeedNewTargetCertKeyPair(secret, signer, trusted, refresh, onlyExpired, missing)
	if why != "" {
		return why
	}
	return broken(secret, trusted, u.Hostnames())
}

// skew is how far clocks of a cluster may differ: what is not valid yet will be within that, and nothing
// that is about to expire is kept that long.
const skew = time.Hour

// broken says why nobody who trusts the bundle could use what is in the Secret: it is no pair,
// the bundle does not lead to it, it has expired, was made while the clock was ahead, or is not for one of
// the hosts.
func broken(secret *corev1.Secret, trusted []*x509.Certificate, hosts []string) string {
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return "it cannot be used: " + err.Error()
	}
	roots := x509.NewCertPool()
	for _, ca := range trusted {
		roots.AddCert(ca)
	}
	for _, host := range hosts {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: time.Now().Add(skew)}); err != nil {
			return "it cannot be verified: " + err.Error()
		}
	}
	return ""
}

// giveUpUnusable has library-go replace a CA, or a bundle, that somebody has damaged: it would fail
// over them for ever, or sign certificates that nobody can verify. A conflict says that it wrote.
func (k Keeper) giveUpUnusable(ctx context.Context) error {
	signer, err := k.Secrets.Lister().Secrets(k.Namespace).Get(k.Signer)
	if err == nil && signer.Annotations[certrotation.CertificateNotAfterAnnotation] != "" {
		if why := noCA(signer); why != "" {
			out := signer.DeepCopy()
			delete(out.Annotations, certrotation.CertificateNotAfterAnnotation)
			if _, err := k.Client.CoreV1().Secrets(k.Namespace).Update(ctx, out, metav1.UpdateOptions{}); err != nil {
				return fmt.Errorf("giving up the CA in Secret %s: %w", k.Signer, err)
			}
			k.Recorder.Warningf("SignerUnusable", "The CA in Secret %s is made anew: %s", k.Signer, why)
			return k.behind("secrets", k.Signer)
		}
	}
	bundle, err := k.ConfigMaps.Lister().ConfigMaps(k.Namespace).Get(k.Bundle)
	if err != nil || bundle.Data[BundleKey] == "" {
		return nil // It is about to be written.
	}
	if _, why := cert.ParseCertsPEM([]byte(bundle.Data[BundleKey])); why != nil {
		out := bundle.DeepCopy()
		out.Data = nil
		if _, err := k.Client.CoreV1().ConfigMaps(k.Namespace).Update(ctx, out, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("emptying the CA bundle in ConfigMap %s: %w", k.Bundle, err)
		}
		k.Recorder.Warningf("CABundleUnusable", "The CA bundle in ConfigMap %s is made anew: %v", k.Bundle, why)
		return k.behind("configmaps", k.Bundle)
	}
	return nil
}

// noCA says why nobody could verify what the Secret's CA signs; empty is that it is one.
func noCA(secret *corev1.Secret) string {
	ca, err := crypto.GetCAFromBytes(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	switch {
	case err != nil:
		return err.Error()
	case !ca.Config.Certs[0].IsCA:
		return "its certificate is not that of a CA"
	case time.Now().After(ca.Config.Certs[0].NotAfter):
		return "its certificate has expired"
	case time.Now().Add(skew).Before(ca.Config.Certs[0].NotBefore):
		return "its certificate is not valid yet: the clock was ahead when it was made"
	}
	return ""
}
