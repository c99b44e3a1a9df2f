package servingcerts

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/cert"
)

// Expiries tells when the certificates in Secrets end, as far as they are of this package: whoever
// makes others looks after them.
func Expiries(secrets corelisters.SecretNamespaceLister, names ...string) func() map[string]time.Time {
	return func() map[string]time.Time {
		out := map[string]time.Time{}
		for _, name := range names {
			secret, err := secrets.Get(name)
			if err != nil || secret.Labels[Label] == "" {
				continue
			}
			chain, err := cert.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
			if err == nil {
				out[name] = chain[0].NotAfter
			}
		}
		return out
	}
}
