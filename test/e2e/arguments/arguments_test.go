package arguments

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// injected is what the cluster version operator and cluster-storage-operator add to the ConfigMaps:
// the TLS profile, and no address.
const injected = `servingInfo:
  minTLSVersion: VersionTLS13
  cipherSuites:
  - TLS_AES_128_GCM_SHA256
  - TLS_AES_256_GCM_SHA384
`

// site is a cluster in which programs are started.
type site struct {
	*embedded.Cluster
	kube       kubernetes.Interface
	repository string
	binary     string
	// token is Prometheus'.
	token string
}

// start returns a cluster to which a folder of manifests has been applied.
func start(t *testing.T, options embedded.Options, manifests string) *site {
	t.Helper()
	binary, err := operatorprocess.Binary()
	if err != nil {
		t.Fatal(err)
	}
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	options.Log = t.Output()
	cluster, err := embedded.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			cluster.KeepState()
			t.Logf("state and logs are in %s", cluster.Dir())
		}
		_ = cluster.Stop()
	})
	s := &site{Cluster: cluster, repository: root, binary: binary}
	if s.kube, err = cluster.Client(); err != nil {
		t.Fatal(err)
	}
	apply := exec.CommandContext(t.Context(), cluster.Kubectl(), "--kubeconfig="+cluster.AdminKubeconfig(), "apply", "-f", filepath.Join(root, manifests))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("applying %s: %v: %s", manifests, err, out)
	}
	if s.token, err = s.prometheus(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// run starts a pod of the Deployment, which the test's end stops.
func (s *site) run(t *testing.T, d *appsv1.Deployment) *operatorprocess.Process {
	t.Helper()
	p, err := operatorprocess.Start(t.Context(), operatorprocess.Config{
		Pod: operatorprocess.PodOf(d), Binary: s.binary, Client: s.kube, APIServer: s.AdminConfig().Host,
		Dir: filepath.Join(s.Dir(), "operators", filepath.Base(t.Name())),
	})
	if err != nil {
		t.Fatal(err)
	}
	// Its lease is to be free for the next of the same Deployment.
	t.Cleanup(func() {
		if p.Exited() == nil {
			_ = p.Stop(context.Background())
		}
	})
	return p
}

// inject adds to the only file of a ConfigMap.
func (s *site) inject(t *testing.T, name string) {
	t.Helper()
	configMaps := s.kube.CoreV1().ConfigMaps(driver.Namespace)
	current, err := configMaps.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	current.Data["config.yaml"] += injected
	if _, err := configMaps.Update(t.Context(), current, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// prometheus is a token of the monitoring's ServiceAccount, which may read metrics.
func (s *site) prometheus(ctx context.Context) (string, error) {
	const namespace, name = "openshift-monitoring", "prometheus-k8s"
	meta := metav1.ObjectMeta{Name: namespace}
	if _, err := s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("namespace of Prometheus: %w", err)
	}
	meta = metav1.ObjectMeta{Name: name}
	if _, err := s.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("ServiceAccount of Prometheus: %w", err)
	}
	_, err := s.kube.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("rights of Prometheus: %w", err)
	}
	_, err = s.kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("rights of Prometheus: %w", err)
	}
	token, err := s.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, tokenRequest(), metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of Prometheus: %w", err)
	}
	return token.Status.Token, nil
}

// patience is far above what a busy machine needs for a start.
const patience = 3 * time.Minute

func TestOnOpenShift(t *testing.T) {
	if testing.Short() {
		t.Skip("needs an embedded cluster: make test-e2e")
	}
	s := start(t, embedded.Options{}, "manifests")
	for _, d := range driver.All {
		if err := operatorprocess.Prepare(t.Context(), s.kube, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, deployment := range append(deploymentsOf(t, s.repository, "manifests"), operators(t)...) {
		t.Run(deployment.Name, func(t *testing.T) { s.serves(t, s.run(t, deployment), deployment.Name+"-serving-cert") })
		t.Run(deployment.Name+"WithProfile", func(t *testing.T) {
			s.inject(t, deployment.Name+"-config")
			p := s.run(t, deployment)
			s.serves(t, p, deployment.Name+"-serving-cert")
			s.refusesTLS12(t, p)
		})
	}
	s.deploy(t)
	s.walk(t)
}

func TestOnKubernetes(t *testing.T) {
	if testing.Short() {
		t.Skip("needs an embedded cluster: make test-e2e")
	}
	s := start(t, embedded.Options{Plain: true}, "manifests/kubernetes")
	for _, deployment := range deploymentsOf(t, s.repository, "manifests/kubernetes") {
		t.Run(deployment.Name, func(t *testing.T) { s.serves(t, s.run(t, deployment), deployment.Name+"-serving-cert") })
	}
	s.deploy(t)
	s.walk(t)
}
