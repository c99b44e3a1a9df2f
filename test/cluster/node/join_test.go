package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
)

func TestWaitReadyKeepsLabels(t *testing.T) {
	tests := map[string]struct {
		reason string
		labels map[string]string
	}{
		"None": {reason: "pods are spread by the label that the kubelet gives a node"},
		"Some": {reason: "others are added", labels: map[string]string{"a": "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(&corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{corev1.LabelHostname: "node-1"}},
				Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
			})
			if err := node.WaitReady(t.Context(), client, "node-1", tc.labels); err != nil {
				t.Fatal(err)
			}
			got, err := client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
			if err != nil || got.Labels[corev1.LabelHostname] != "node-1" || len(got.Labels) != 1+len(tc.labels) {
				t.Errorf("%s: got %v, %v", tc.reason, got.Labels, err)
			}
		})
	}
}
