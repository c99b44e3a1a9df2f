package credentials

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

func nodeWith(name, kernel string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"role": "worker"}},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: kernel, OSImage: "Fedora"}},
	}
}

func TestKernels(t *testing.T) {
	kube := fake.NewClientset(nodeWith("a", "6.12.0"), nodeWith("b", "7.0.1"))
	k, err := NewKernels(kube)
	if err != nil {
		t.Fatal(err)
	}
	var woken atomic.Int32
	if _, err := k.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { woken.Add(1) }}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { k.Run(ctx); close(ended) }()
	become := func(want map[string]string) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			got, known := k.Get()
			return known && cmp.Equal(got, want), nil
		})
		if err != nil {
			got, known := k.Get()
			t.Fatalf("got %v, %t, want %v", got, known, want)
		}
	}

	if actions := kube.Actions(); len(actions) > 0 {
		t.Errorf("nobody has asked yet: %v", actions)
	}
	if _, known := k.All(); known {
		t.Error("known at the first question")
	}
	become(map[string]string{"a": "6.12.0", "b": "7.0.1"})
	if got := woken.Load(); got != 1 {
		t.Errorf("woken %d times by the first list", got)
	}

	nodes := kube.CoreV1().Nodes()
	status := nodeWith("b", "7.0.1")
	status.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	for _, node := range []*corev1.Node{status, nodeWith("a", "7.1.0")} {
		if _, err := nodes.UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	become(map[string]string{"a": "7.1.0", "b": "7.0.1"})
	if got := woken.Load(); got != 2 {
		t.Errorf("woken %d times, want 2: a node's condition is no news", got)
	}
	if err := nodes.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	become(map[string]string{"b": "7.0.1"})
	stop()
	<-ended
}

// TestKernelsNeverAsked: who has no such keys watches no node.
func TestKernelsNeverAsked(t *testing.T) {
	kube := fake.NewClientset(nodeWith("a", "6.12.0"))
	k, err := NewKernels(kube)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	k.Run(ctx)
	if actions := kube.Actions(); len(actions) > 0 {
		t.Errorf("asked for %v", actions)
	}
}
