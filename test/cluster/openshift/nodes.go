package openshift

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
)

// ControlPlaneLabel marks nodes of the control plane, on any Kubernetes.
const ControlPlaneLabel = "node-role.kubernetes.io/control-plane"

const (
	roleMaster       = "node-role.kubernetes.io/master"
	roleControlPlane = ControlPlaneLabel
	roleWorker       = "node-role.kubernetes.io/worker"
	labelOS          = "node.openshift.io/os_id"
)

// Nodes says how many fake nodes there are. Masters without any worker carry both roles and no
// taint, as on a compact or single-node OpenShift. Plain ones are Harvester's: they carry the
// labels of a control plane with another value.
type Nodes struct {
	Masters, Workers int
	Plain            bool
}

func (n Nodes) all(kubelet string) []*corev1.Node {
	var nodes []*corev1.Node
	for i := range n.Masters {
		master := newNode(fmt.Sprintf("master-%d", i), len(nodes), roleMaster, roleControlPlane)
		if n.Workers == 0 {
			master.Labels[roleWorker] = ""
		} else {
			master.Spec.Taints = []corev1.Taint{{Key: roleMaster, Effect: corev1.TaintEffectNoSchedule}}
		}
		nodes = append(nodes, master)
	}
	for i := range n.Workers {
		nodes = append(nodes, newNode(fmt.Sprintf("worker-%d", i), len(nodes), roleWorker))
	}
	for _, node := range nodes {
		node.Status.NodeInfo.KubeletVersion = kubelet
		if n.Plain {
			becomePlain(node)
		}
	}
	return nodes
}

func becomePlain(node *corev1.Node) {
	for _, role := range []string{roleMaster, roleControlPlane} {
		if _, has := node.Labels[role]; has {
			node.Labels[role] = "true"
		}
	}
	delete(node.Labels, roleWorker)
	delete(node.Labels, labelOS)
	node.Status.NodeInfo.OSImage = "Harvester (fake)"
}

func newNode(name string, index int, roles ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Annotations: map[string]string{controlplane.FakeNodeAnnotation: controlplane.FakeNode},
		Labels: map[string]string{
			corev1.LabelHostname:   name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: "amd64",
			labelOS:                "rhel",
		},
	}}
	for _, role := range roles {
		node.Labels[role] = ""
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("16"),
		corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourcePods:   resource.MustParse("250"),
	}
	node.Status = corev1.NodeStatus{
		NodeInfo: corev1.NodeSystemInfo{
			OperatingSystem:         "linux",
			Architecture:            "amd64",
			OSImage:                 "Red Hat Enterprise Linux CoreOS (fake)",
			KernelVersion:           "5.14.0-570.el9.x86_64",
			ContainerRuntimeVersion: "cri-o://1.36.0",
		},
		Capacity:    capacity,
		Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("192.0.2.%d", 10+index)},
			{Type: corev1.NodeHostName, Address: name},
		},
	}
	return node
}

// CompactLabels are those of a node of a compact cluster, in addition to the ones that it gives itself.
func CompactLabels() map[string]string {
	return map[string]string{roleMaster: "", roleControlPlane: "", roleWorker: "", labelOS: "rhel"}
}

// CreateNodes returns when all nodes are ready.
func CreateNodes(ctx context.Context, client kubernetes.Interface, n Nodes) error {
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	wanted := n.all(version.GitVersion)
	for _, node := range wanted {
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{FieldManager: fieldManager}); err != nil {
			return fmt.Errorf("creating node %s: %w", node.Name, err)
		}
	}
	notReady := len(wanted)
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, false, func(ctx context.Context) (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		notReady = len(wanted)
		for _, node := range nodes.Items {
			if Ready(node) {
				notReady--
			}
		}
		return notReady == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d of %d nodes are not ready: %w", notReady, len(wanted), err)
	}
	return nil
}

// Ready says whether pods can run on the node.
func Ready(node corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue && len(taintsOf(node, corev1.TaintNodeNotReady)) == 0
		}
	}
	return false
}

func taintsOf(node corev1.Node, key string) []corev1.Taint {
	var found []corev1.Taint
	for _, t := range node.Spec.Taints {
		if t.Key == key {
			found = append(found, t)
		}
	}
	return found
}
