package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"os"
	"path/filepath"
)

// pki is the certificates of one control plane, as files of one folder.
type pki struct {
	dir       string
	authority *Authority
}

func newPKI(dir, address string) (pki, error) {
	authority, err := NewAuthority("embedded-cluster")
	if err != nil {
		return pki{}, err
	}
	p := pki{dir: dir, authority: authority}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return p, err
	}
	return p, p.fill(address)
}

func (p pki) fill(address string) error {
	own, err := p.authority.pair()
	if err != nil {
		return err
	}
	serving, err := p.authority.Server(address, Loopback, serviceAddress, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	// Aggregated requests are signed by an authority of their own, as on every cluster: whoever
	// it signs may claim to be anybody.
	front, err := NewAuthority("embedded-cluster-front-proxy")
	if err != nil {
		return err
	}
	proxy, err := front.Client(frontProxyUser)
	if err != nil {
		return err
	}
	kubelet, err := p.authority.Client(kubeletClient, "system:masters")
	if err != nil {
		return err
	}
	tokens, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	tokenKey, err := privateKeyPEM(tokens)
	if err != nil {
		return err
	}
	pairs := map[string]Pair{"ca": own, "apiserver": serving, "front-proxy-ca": {Certificate: front.PEM()}, "front-proxy": proxy, "kubelet-client": kubelet, "service-account": {Key: tokenKey}}
	for name, pair := range pairs {
		if err := pair.write(p.dir, name); err != nil {
			return err
		}
	}
	return nil
}

func (a *Authority) pair() (Pair, error) {
	key, err := privateKeyPEM(a.key)
	return Pair{Certificate: a.PEM(), Key: key}, err
}

func (p pki) file(name string) string { return filepath.Join(p.dir, name) }
