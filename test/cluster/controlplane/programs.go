package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

const (
	frontProxyUser = "front-proxy"
	serviceCIDR    = "10.96.0.0/16"
	// serviceAddress is the first of serviceCIDR, which the service kubernetes has.
	serviceAddress = "10.96.0.1"
	kubeletClient  = "kube-apiserver-kubelet-client"
	serviceAccount = "https://kubernetes.default.svc"
)

// collectRarely saves a seventh of the CPU that a small cluster takes; the limit is far above what it holds.
var collectRarely = []string{"GOGC=400", "GOMEMLIMIT=3GiB"}

func (c *ControlPlane) startEtcd(clientPort, peerPort int) (*process.Process, error) {
	client, peer := loopback("http", clientPort), loopback("http", peerPort)
	return c.start("etcd",
		"--name=embedded",
		"--data-dir="+c.etcdDir(),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=embedded="+peer,
		// The data dies with the cluster.
		"--unsafe-no-fsync",
		"--log-level=warn")
}

func (c *ControlPlane) startAPIServer(etcdPort, port int) (*process.Process, error) {
	arguments := []string{
		"--etcd-servers=" + loopback("http", etcdPort),
		"--bind-address=" + c.options.Address, "--advertise-address=" + c.options.Address, fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.pki.file("apiserver.crt"), "--tls-private-key-file=" + c.pki.file("apiserver.key"),
		"--client-ca-file=" + c.pki.file("ca.crt"),
		"--requestheader-client-ca-file=" + c.pki.file("front-proxy-ca.crt"), "--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pki.file("front-proxy.crt"), "--proxy-client-key-file=" + c.pki.file("front-proxy.key"),
		"--service-account-issuer=" + serviceAccount,
		"--service-account-key-file=" + c.pki.file("service-account.key"), "--service-account-signing-key-file=" + c.pki.file("service-account.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--kubelet-client-certificate=" + c.pki.file("kubelet-client.crt"), "--kubelet-client-key=" + c.pki.file("kubelet-client.key"),
		"--kubelet-certificate-authority=" + c.pki.file("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--audit-policy-file=" + c.auditPolicyFile(), "--audit-log-path=" + c.AuditLog, "--audit-log-maxsize=0",
	}
	if c.options.Address == Loopback {
		// The reconciler of the service kubernetes refuses a loopback address for ever.
		arguments = append(arguments, "--endpoint-reconciler-type=none")
	}
	return c.start("kube-apiserver", arguments...)
}

func (c *ControlPlane) startControllerManager() error {
	kubeconfig, err := c.CertificateKubeconfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	arguments := []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0", "--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.pki.file("service-account.key"),
		"--root-ca-file=" + c.pki.file("ca.crt"),
		"--cluster-signing-cert-file=" + c.pki.file("ca.crt"), "--cluster-signing-key-file=" + c.pki.file("ca.key"),
		// The default rate costs seconds of each start.
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}
	if c.options.Address == Loopback {
		// Fake nodes stay ready while a test has the API server away.
		arguments = append(arguments, "--node-monitor-grace-period=5m")
	}
	c.manager, err = c.start("kube-controller-manager", arguments...)
	return err
}

func (c *ControlPlane) startScheduler() error {
	kubeconfig, err := c.CertificateKubeconfig("system:kube-scheduler")
	if err != nil {
		return err
	}
	c.scheduler, err = c.start("kube-scheduler",
		"--kubeconfig="+kubeconfig,
		"--secure-port=0", "--leader-elect=false",
		"--kube-api-qps=500", "--kube-api-burst=1000")
	return err
}

func (c *ControlPlane) startKWOK() error {
	kubeconfig, err := c.CertificateKubeconfig(kwokUser, "system:masters")
	if err != nil {
		return err
	}
	stages, err := filepath.Glob(filepath.Join(c.options.Programs.Stages(), "*.yaml"))
	if err != nil || len(stages) == 0 {
		return fmt.Errorf("no stages of KWOK in %s: %w", c.options.Programs.Stages(), os.ErrNotExist)
	}
	arguments := []string{
		"--kubeconfig=" + kubeconfig,
		"--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector=" + FakeNodeAnnotation + "=" + FakeNode,
		"--node-lease-duration-seconds=40",
	}
	for _, stage := range stages {
		arguments = append(arguments, "--config="+stage)
	}
	c.kwok, err = c.start("kwok", arguments...)
	return err
}

func (c *ControlPlane) start(program string, arguments ...string) (*process.Process, error) {
	cmd := exec.Command(c.options.Programs.Path(program), arguments...)
	cmd.Env = process.Environment(collectRarely...)
	return c.options.Daemons.StartCommand(program, cmd)
}

func loopback(scheme string, port int) string {
	return fmt.Sprintf("%s://%s:%d", scheme, Loopback, port)
}
