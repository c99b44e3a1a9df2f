package arguments

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess/box"
)

// ofNamespace is a user as the SCC restricted-v2 gives one to pods that ask for none.
const ofNamespace = 1000660000

// deploy has the operators deploy both drivers, until the test ends.
func (s *site) deploy(t *testing.T) {
	t.Helper()
	_, err := s.kube.CoreV1().Secrets(driver.Namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret},
		StringData: map[string]string{"ceph.conf": s.Ceph().Conf(), "keyring": s.Ceph().Keyring()},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	pods, err := operatorprocess.RunPods(ctx, operatorprocess.PodsConfig{
		Client: s.kube, Namespace: driver.Namespace, Selector: "name in (" + strings.Join(ours(), ",") + ")",
		Binary: s.binary, APIServer: s.AdminConfig().Host, Dir: filepath.Join(s.Dir(), "operators"), Log: t.Output(),
	})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		<-pods.Done()
	})
	var missing error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		for _, d := range driver.All {
			if missing = s.unfinished(ctx, d); missing != nil {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err, missing)
	}
}

// ours are the Deployments whose containers run the operator's image.
func ours() []string {
	out := []string{clusterstorage.Name}
	for _, d := range driver.All {
		out = append(out, d.OperatorName())
	}
	return out
}

// unfinished says what of a driver is not there, or not of its last version.
func (s *site) unfinished(ctx context.Context, d driver.Driver) error {
	controller, err := s.kube.AppsV1().Deployments(driver.Namespace).Get(ctx, d.ControllerName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if c := controller.Status; c.ObservedGeneration != controller.Generation || c.Replicas == 0 || c.ReadyReplicas != c.Replicas || c.UpdatedReplicas != c.Replicas {
		return fmt.Errorf("Deployment %s: %+v", controller.Name, c)
	}
	node, err := s.kube.AppsV1().DaemonSets(driver.Namespace).Get(ctx, d.NodeName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if n := node.Status; n.ObservedGeneration != node.Generation || n.NumberReady == 0 || n.NumberReady != n.DesiredNumberScheduled || n.UpdatedNumberScheduled != n.NumberReady {
		return fmt.Errorf("DaemonSet %s: %+v", node.Name, n)
	}
	return nil
}

// walk starts a pod of every workload that is no operator's, whole, and waits until each of its
// containers serves. Then it sees each of them refuse a flag that it does not know.
func (s *site) walk(t *testing.T) {
	t.Helper()
	if err := box.Available(); err != nil {
		t.Skipf("no root file systems for processes here: %v", err)
	}
	workloads := s.workloads(t)
	var wanted []string
	for _, d := range driver.All {
		wanted = append(wanted, d.ControllerName(), d.NodeName())
	}
	slices.Sort(wanted)
	if diff := cmp.Diff(wanted, workloads); diff != "" {
		t.Errorf("workloads of the drivers (-known +there):\n%s", diff)
	}
	for _, name := range workloads {
		t.Run(name, func(t *testing.T) {
			pod := s.podOf(t, name)
			s.podServes(t, pod)
			refuses(t, s, pod)
		})
	}
}

// workloads are all in the namespace but the operators'.
func (s *site) workloads(t *testing.T) []string {
	t.Helper()
	deployments, err := s.kube.AppsV1().Deployments(driver.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	daemonSets, err := s.kube.AppsV1().DaemonSets(driver.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range deployments.Items {
		out = append(out, d.Name)
	}
	for _, d := range daemonSets.Items {
		out = append(out, d.Name)
	}
	out = slices.DeleteFunc(out, func(name string) bool { return slices.Contains(ours(), name) })
	slices.Sort(out)
	return out
}

// podOf is a pod that the cluster has of a workload, with the user that OpenShift would give it.
func (s *site) podOf(t *testing.T, workload string) *corev1.Pod {
	t.Helper()
	pods, err := s.kube.CoreV1().Pods(driver.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + workload})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("no pod: %v", err)
	}
	pod := &pods.Items[0]
	if c := pod.Spec.SecurityContext; ptr.Deref(c.RunAsNonRoot, false) && c.RunAsUser == nil {
		c.RunAsUser = ptr.To[int64](ofNamespace)
	}
	return pod
}

// startPod starts all containers of a pod until the test ends.
func (s *site) startPod(t *testing.T, pod *corev1.Pod) map[string]*operatorprocess.Process {
	t.Helper()
	// Sockets have short paths.
	dir, err := os.MkdirTemp("", "walk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	node := filepath.Join(dir, "node")
	if err := makeNode(node); err != nil {
		t.Fatal(err)
	}
	all, err := operatorprocess.StartContainers(t.Context(), operatorprocess.Config{
		Pod: pod, Client: s.kube, APIServer: s.AdminConfig().Host, Dir: filepath.Join(dir, "pod"), Node: node,
	}, func(image string) (operatorprocess.Program, error) {
		return images.Program(t.Context(), t.Output(), image)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range all {
		t.Cleanup(func() {
			if p.Exited() == nil {
				p.Kill()
			}
			if log, err := os.ReadFile(p.LogFile()); t.Failed() {
				t.Logf("log of %s: %v\n%s", name, err, log)
			}
		})
	}
	return all
}

// makeNode makes the folders that a node has before any pod comes.
func makeNode(node string) error {
	for _, folder := range []string{"var/lib/kubelet/plugins", "var/lib/kubelet/plugins_registry", "var/lib/kubelet/pods", "lib/modules"} {
		if err := os.MkdirAll(filepath.Join(node, folder), 0o755); err != nil {
			return err
		}
	}
	for _, folder := range []string{"dev", "sys"} {
		if err := os.Symlink("/"+folder, filepath.Join(node, folder)); err != nil {
			return err
		}
	}
	return nil
}
