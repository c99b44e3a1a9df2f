package standins

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
)

func nodePod(name, node, driver string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "drivers"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{
			{Name: "csi-driver"}, {Name: "registrar", Args: []string{"--v=2", "--kubelet-registration-path=/var/lib/kubelet/plugins/" + driver + "/csi.sock"}},
		}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

// TestRegistrations: a CSINode follows the pods of its node, if the node is a fake one.
func TestRegistrations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "fake", Annotations: map[string]string{controlplane.FakeNodeAnnotation: controlplane.FakeNode}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}},
		nodePod("a", "fake", "rbd.csi.ceph.com", corev1.ConditionTrue), nodePod("b", "fake", "cephfs.csi.ceph.com", corev1.ConditionFalse),
		nodePod("c", "real", "rbd.csi.ceph.com", corev1.ConditionTrue), nodePod("d", "gone", "rbd.csi.ceph.com", corev1.ConditionTrue),
	)
	finish := StartRegistrations(ctx, client, t.Output())
	defer finish()
	defer cancel()
	expect := func(reason string, want ...string) {
		t.Helper()
		var have []string
		err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			have = nil
			all, err := client.StorageV1().CSINodes().List(ctx, metav1.ListOptions{})
			for _, csiNode := range all.Items {
				for _, d := range csiNode.Spec.Drivers {
					have = append(have, csiNode.Name+" "+d.Name)
				}
			}
			return slices.Equal(have, want), err
		})
		if err != nil {
			t.Fatalf("%s: %v, want %v", reason, have, want)
		}
	}
	expect("the ready pod of the fake node", "fake rbd.csi.ceph.com")
	pods := client.CoreV1().Pods("drivers")
	if _, err := pods.UpdateStatus(ctx, nodePod("b", "fake", "cephfs.csi.ceph.com", corev1.ConditionTrue), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("the other one is ready", "fake cephfs.csi.ceph.com", "fake rbd.csi.ceph.com")
	if err := pods.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("a pod has gone", "fake cephfs.csi.ceph.com")
}
