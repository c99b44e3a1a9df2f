package servingcerts

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/operator/certrotation"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestSyncAfterClock begins with what was made while the clock was ahead.
func TestSyncAfterClock(t *testing.T) {
	tests := map[string]struct {
		reason string
		ahead  time.Duration
		stays  bool
	}{
		"Seconds": {"two nodes never agree wholly", 5 * time.Second, true},
		"Minutes": {"whoever verifies it can wait as long", 10 * time.Minute, true},
		"Days":    {"nobody could verify it for days, nor what its CA signs now", 30 * 24 * time.Hour, false},
		"Years":   {"a machine without a battery, before it has asked for the time", 10 * 365 * 24 * time.Hour, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := rig{t, fake.NewClientset()}
			r.sync()
			r.madeAt(time.Now().Add(tc.ahead))
			before := string(r.secret(wanted).Data[corev1.TLSCertKey])
			r.sync()
			if stayed := string(r.secret(wanted).Data[corev1.TLSCertKey]) == before; stayed != tc.stays {
				t.Errorf("%s: the certificate stayed: %v", tc.reason, stayed)
			}
			if !tc.stays {
				r.verify()
			}
			writes := r.writes()
			r.sync()
			if n := r.writes() - writes; n > 0 {
				t.Errorf("%s: writes go on: %d", tc.reason, n)
			}
		})
	}
}

// madeAt replaces CA, bundle and certificate by those of a clock that shows that time.
func (r rig) madeAt(now time.Time) {
	r.Helper()
	template := func(serial int64, lifetime time.Duration) *x509.Certificate {
		return &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: now, NotAfter: now.Add(lifetime), BasicConstraintsValid: true}
	}
	ca, leaf := template(1, signerValidity), template(2, validity)
	ca.Subject, ca.IsCA, ca.KeyUsage = pkix.Name{CommonName: r.secret("signer").Annotations[certrotation.CertificateIssuer]}, true, x509.KeyUsageCertSign
	leaf.DNSNames = []string{"metrics.here.svc", "metrics.here.svc.cluster.local"}
	caKey, caPEM := r.sign("signer", ca, ca, nil)
	r.sign(wanted, leaf, ca, caKey)
	bundle, err := r.client.CoreV1().ConfigMaps(namespace).Get(r.Context(), "bundle", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	bundle.Data[BundleKey] = string(caPEM)
	if _, err := r.client.CoreV1().ConfigMaps(namespace).Update(r.Context(), bundle, metav1.UpdateOptions{}); err != nil {
		r.Fatal(err)
	}
}

// sign writes a certificate into a Secret, with library-go's notes of how long it is valid.
func (r rig) sign(secret string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	r.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		r.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		r.Fatal(err)
	}
	plain, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		r.Fatal(err)
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	r.change(secret, func(s *corev1.Secret) {
		s.Data = map[string][]byte{corev1.TLSCertKey: out, corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: plain})}
		s.Annotations[certrotation.CertificateNotBeforeAnnotation] = template.NotBefore.Format(time.RFC3339)
		s.Annotations[certrotation.CertificateNotAfterAnnotation] = template.NotAfter.Format(time.RFC3339)
		if secret == wanted {
			s.Annotations[certrotation.CertificateIssuer] = parent.Subject.CommonName
		}
	})
	return key, out
}
