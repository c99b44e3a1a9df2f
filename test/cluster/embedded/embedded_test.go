package embedded

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
)

// TestSideBySide starts two copies at once, uses both and stops them.
func TestSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two clusters")
	}
	tests := map[string]struct {
		options Options
		nodes   int
	}{
		"HighlyAvailable": {nodes: 8},
		"SingleReplica":   {options: Options{ControlPlaneTopology: configv1.SingleReplicaTopologyMode, WithoutFilesystem: true}, nodes: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.options.Log = t.Output()
			c, err := Start(t.Context(), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Stop() })
			client, err := c.Client()
			if err != nil {
				t.Fatal(err)
			}
			checkNodes(t, client, tc.nodes)
			checkPods(t, client)
			checkStandIns(t, c, client)
			checkSettings(t, c)
			checkServiceAccount(t, c)
			if health, err := c.Ceph().Command(t.Context(), "health"); err != nil || !strings.HasPrefix(string(health), "HEALTH_") {
				t.Errorf("health of Ceph: %q, %v", health, err)
			}
			checkStop(t, c)
		})
	}
}

func checkNodes(t *testing.T, client kubernetes.Interface, want int) {
	t.Helper()
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != want {
		t.Fatalf("%d nodes, want %d: %v", len(nodes.Items), want, err)
	}
	for _, node := range nodes.Items {
		if version := node.Status.NodeInfo.KubeletVersion; !strings.HasPrefix(version, "v1.") || node.Status.Allocatable.Cpu().Value() != 16 {
			t.Errorf("node %s: kubelet %s, %s CPUs", node.Name, version, node.Status.Allocatable.Cpu())
		}
		if !openshift.Ready(node) {
			t.Errorf("node %s is not ready: %+v", node.Name, node.Status.Conditions)
		}
	}
}

func checkPods(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	labels := map[string]string{"app": "probe"}
	_, err := client.AppsV1().Deployments(openshift.CSINamespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{PriorityClassName: "system-cluster-critical", Containers: []corev1.Container{{Name: "probe", Image: "example.com/probe"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reach(t, "two ready pods", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments(openshift.CSINamespace).Get(ctx, "probe", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 2, err
	})
}

func checkStandIns(t *testing.T, c *Cluster, client kubernetes.Interface) {
	t.Helper()
	core := client.CoreV1()
	_, err := core.Services(openshift.CSINamespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Annotations: map[string]string{"service.beta.openshift.io/serving-cert-secret-name": "probe-cert"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secretThere := func(ctx context.Context) (bool, error) {
		secret, err := core.Secrets(openshift.CSINamespace).Get(ctx, "probe-cert", metav1.GetOptions{})
		return err == nil && len(secret.Data[corev1.TLSCertKey]) > 0, nil
	}
	reach(t, "serving certificate", secretThere)
	if err := core.Secrets(openshift.CSINamespace).Delete(t.Context(), "probe-cert", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reach(t, "serving certificate after its removal", secretThere)

	_, err = core.ConfigMaps(openshift.CSINamespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"config.openshift.io/inject-trusted-cabundle": "true"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bundle := func() string {
		configMap, err := core.ConfigMaps(openshift.CSINamespace).Get(t.Context(), "probe", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return configMap.Data["ca-bundle.crt"]
	}
	reach(t, "trusted CA bundle", func(context.Context) (bool, error) { return bundle() == c.TrustedCABundle(), nil })
	if err := c.SetTrustedCABundle(t.Context(), "another"); err != nil || bundle() != "another" {
		t.Errorf("bundle after its change: %q, %v", bundle(), err)
	}
}

func checkSettings(t *testing.T, c *Cluster) {
	t.Helper()
	settings := map[string]error{
		"topology": c.SetTopology(t.Context(), configv1.ExternalTopologyMode),
		"platform": c.SetPlatform(t.Context(), configv1.BareMetalPlatformType),
		"proxy":    c.SetProxy(t.Context(), configv1.ProxyStatus{HTTPProxy: "http://proxy.example.com:3128", NoProxy: ".svc"}),
		"profile":  c.SetTLSProfile(t.Context(), &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}),
	}
	for name, err := range settings {
		if err != nil {
			t.Errorf("setting %s: %v", name, err)
		}
	}
}

func checkServiceAccount(t *testing.T, c *Cluster) {
	t.Helper()
	path, err := c.ServiceAccountKubeconfig(t.Context(), openshift.CSINamespace, "default")
	if err != nil {
		t.Fatal(err)
	}
	config, err := controlplane.ClientConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	const user = "system:serviceaccount:" + openshift.CSINamespace + ":default"
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), user) {
		t.Errorf("listing nodes as %s: %v, want forbidden", user, err)
	}
	audit, err := os.ReadFile(c.AuditLog())
	if err != nil || !strings.Contains(string(audit), user) {
		t.Errorf("the audit log (%d bytes, %v) has no request of %s", len(audit), err, user)
	}
}

func checkStop(t *testing.T, c *Cluster) {
	t.Helper()
	daemons := c.daemons.Running()
	count := len(daemons)
	for _, p := range daemons {
		if p.Name == "ceph-commands" { // An unpacked release has none.
			count--
		}
	}
	if count != 9 {
		t.Errorf("%d daemons, want 5 of Kubernetes and 4 of Ceph", count)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	for _, p := range daemons {
		if p.Alive("") {
			t.Errorf("%s (process %d) is alive", p.Name, p.PID)
		}
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", c.Dir(), err)
	}
}

func reach(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
