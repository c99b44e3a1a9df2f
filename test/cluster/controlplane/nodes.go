package controlplane

import (
	"fmt"
	"path/filepath"
)

// DNSUser is the user of the servers of the names of Services.
const DNSUser = "cluster-dns"

// NodeFiles are the files by which a real node and the API server know each other.
type NodeFiles struct {
	ClientCA, ServingCert, ServingKey string
	// Kubelet, KubeProxy and DNS are kubeconfigs.
	Kubelet, KubeProxy, DNS string
}

// NodeFiles writes what the node of the name and address needs.
func (c *ControlPlane) NodeFiles(name, address string) (NodeFiles, error) {
	serving, err := c.pki.authority.Server(name, address)
	if err != nil {
		return NodeFiles{}, fmt.Errorf("certificate of %s: %w", name, err)
	}
	own := "kubelet-" + name
	if err := serving.write(c.pki.dir, own); err != nil {
		return NodeFiles{}, err
	}
	files := NodeFiles{ClientCA: c.pki.file("ca.crt"), ServingCert: c.pki.file(own + ".crt"), ServingKey: c.pki.file(own + ".key")}
	for _, user := range []struct {
		file   *string
		name   string
		groups []string
	}{
		{&files.Kubelet, "system:node:" + name, []string{"system:nodes"}},
		{&files.KubeProxy, "system:kube-proxy", nil},
		// What a DNS server of a cluster may read is nothing that is judged here.
		{&files.DNS, DNSUser, []string{"system:masters"}},
	} {
		kubeconfig, err := c.CertificateKubeconfig(user.name, user.groups...)
		if err != nil {
			return NodeFiles{}, err
		}
		if *user.file, err = filepath.Abs(kubeconfig); err != nil {
			return NodeFiles{}, err
		}
	}
	return files, nil
}
