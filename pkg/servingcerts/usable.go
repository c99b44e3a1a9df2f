package servingcerts

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	"github.com/openshift/library-go/pkg/operator/certrotation"
	corev1 "k8s.io/api/core/v1"
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

// broken says why nobody who trusts the bundle could use what is in the Secret: it is no pair,
// the bundle does not lead to it, it has expired, or it is not for one of the hosts.
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
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			return "it cannot be verified: " + err.Error()
		}
	}
	return ""
}
