package controlplane

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TokenKubeconfig writes a kubeconfig that uses a bearer token and returns its path. Its file
// is <name>.kubeconfig in the control plane's folder.
func (c *ControlPlane) TokenKubeconfig(name, namespace, token string) (string, error) {
	return c.writeKubeconfig(name, namespace, &clientcmdapi.AuthInfo{Token: token})
}

// CertificateKubeconfig writes a kubeconfig for a user of the groups and returns its path. Its
// file is <user>.kubeconfig in the control plane's folder.
func (c *ControlPlane) CertificateKubeconfig(user string, groups ...string) (string, error) {
	pair, err := c.pki.authority.Client(user, groups...)
	if err != nil {
		return "", fmt.Errorf("certificate of %s: %w", user, err)
	}
	return c.writeKubeconfig(user, "", &clientcmdapi.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key})
}

// ClientConfig is a client configuration without rate limit from a kubeconfig's path.
func ClientConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

func (c *ControlPlane) writeKubeconfig(name, namespace string, auth *clientcmdapi.AuthInfo) (string, error) {
	path := filepath.Join(c.options.Dir, name+".kubeconfig")
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"embedded": {Server: c.server, CertificateAuthorityData: c.pki.authority.PEM()}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: auth},
		Contexts:       map[string]*clientcmdapi.Context{"embedded": {Cluster: "embedded", AuthInfo: name, Namespace: namespace}},
		CurrentContext: "embedded",
	}
	return path, clientcmd.WriteToFile(config, path)
}

// forHealth is a copy of the configuration for requests that carry no objects.
func forHealth(config *rest.Config) *rest.Config {
	plain := rest.CopyConfig(config)
	plain.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return plain
}
