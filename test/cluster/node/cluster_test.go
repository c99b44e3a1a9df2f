package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
)

const probeImage = "example.com/probe:1"

// TestNodes: pods of two real nodes reach each other, a Service by its name, the API and Ceph; a node that
// lost its power comes back; and nothing is left.
func TestNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster with real nodes")
	}
	if err := node.Missing(); err != nil {
		t.Skip("not run: ", err)
	}
	c, err := embedded.Start(t.Context(), embedded.Options{Log: t.Output(), RealNodes: 2, Images: probe(t), Sandbox: probeImage})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Fatalf("%d nodes, want 2: %v", len(nodes.Items), err)
	}
	for _, n := range nodes.Items {
		if !openshift.Ready(n) || !strings.HasPrefix(n.Status.NodeInfo.ContainerRuntimeVersion, "containerd://") {
			t.Errorf("node %s: %+v", n.Name, n.Status)
		}
	}
	servers := []string{createServer(t, client, "node-0"), createServer(t, client, "node-1")}
	createService(t, client)
	mon := strings.TrimPrefix(strings.Split(c.Ceph().MonHost("a"), ",")[0], "[v2:")
	for i, on := range []string{"node-0", "node-1"} {
		t.Run("From"+on, func(t *testing.T) {
			for _, address := range []string{
				servers[1-i] + ":8080", servers[i] + ":8080",
				"probe." + openshift.CSINamespace + ".svc:80", "probe:80", "kubernetes.default.svc:443", mon,
			} {
				dial(t, client, on, address)
			}
		})
	}
	checkCable(t, c, servers[1]+":8080")
	checkPower(t, c, client)
	address := c.Nodes().Address()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	// Linux takes the cables of a network away after its last process.
	var addresses []net.Addr
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		var err error
		addresses, err = net.InterfaceAddrs()
		return !strings.Contains(fmt.Sprint(addresses), address+"/"), err
	})
	if err != nil {
		t.Errorf("addresses after the end: %v, %v", addresses, err)
	}
}

// checkCable: what listens on node-1 is out of reach while its cable is out.
func checkCable(t *testing.T, c *embedded.Cluster, address string) {
	t.Helper()
	dial := func() error {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = connection.Close()
		}
		return err
	}
	if err := errors.Join(dial(), c.Nodes().Unplug(t.Context(), "node-1")); err != nil {
		t.Fatal(err)
	}
	if dial() == nil {
		t.Error("a node is reached whose cable is out")
	}
	if err := c.Nodes().Plug(t.Context(), "node-1"); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return dial() == nil, nil })
	if err != nil {
		t.Errorf("a node is not reached again: %v", err)
	}
}

func checkPower(t *testing.T, c *embedded.Cluster, client kubernetes.Interface) {
	t.Helper()
	if err := c.Nodes().Halt(t.Context(), "node-1"); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Nodes().Run(t.Context(), "node-1", "true"); err == nil {
		t.Errorf("a halted node answers: %s", out)
	}
	if err := c.Nodes().Boot(t.Context(), "node-1"); err != nil {
		t.Fatal(err)
	}
	dial(t, client, "node-1", "probe:80")
}

// createServer returns the address of a pod on the node that accepts connections.
func createServer(t *testing.T, client kubernetes.Interface, on string) string {
	t.Helper()
	pod := newPod("server-"+on, on, "listen", ":8080")
	pod.Labels = map[string]string{"app": "probe"}
	return await(t, client, pod, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && p.Status.PodIP != "" }).Status.PodIP
}

func createService(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	_, err := client.CoreV1().Services(openshift.CSINamespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "probe"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// dial has a pod on the node connect to the address until it does.
func dial(t *testing.T, client kubernetes.Interface, on, address string) {
	t.Helper()
	pod := newPod("", on, "dial", address)
	pod.GenerateName = "client-"
	await(t, client, pod, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
}

func newPod(name, on string, arguments ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: openshift.CSINamespace},
		Spec: corev1.PodSpec{
			NodeName:      on,
			RestartPolicy: corev1.RestartPolicyOnFailure,
			Containers:    []corev1.Container{{Name: "probe", Image: probeImage, Args: arguments, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError}},
		},
	}
}

func await(t *testing.T, client kubernetes.Interface, pod *corev1.Pod, reached func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	pods := client.CoreV1().Pods(pod.Namespace)
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last := created
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		p, err := pods.Get(ctx, created.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = p
		return reached(p), nil
	})
	if err != nil {
		t.Fatalf("pod %s %v: %v: %+v", created.Name, pod.Spec.Containers[0].Args, err, last.Status)
	}
	return last
}
