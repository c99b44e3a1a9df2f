package nodes

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"
	"k8s.io/utils/clock"
)

// deadline bounds the requests of one look.
const deadline = 20 * time.Second

// Look finds the unserved nodes of one DaemonSet. While pods start, its status changes with each of them:
// an answer is good for half a minute, for one generation of one DaemonSet, and while no node goes, until
// no more pods are missing than those of nodes that are not ready, or cordoned: a rollout waits for that.
type Look struct {
	kube  kubernetes.Interface
	clock clock.PassiveClock
	// registered says whether the kubelet of a node knows the driver.
	registered func(node string) bool

	mu         sync.Mutex
	at         time.Time
	of         types.UID
	generation int64
	desired    int32
	missing    int32
	found      Found
}

// NewLook returns one that has not looked.
func NewLook(kube kubernetes.Interface, clock clock.PassiveClock, registered func(node string) bool) *Look {
	return &Look{kube: kube, clock: clock, registered: registered}
}

// Find asks the API server, where the last answer is too old.
func (l *Look) Find(ctx context.Context, daemonSet *appsv1.DaemonSet) (Found, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, desired := l.clock.Now(), daemonSet.Status.DesiredNumberScheduled
	missing, out := daemonSet.Status.NumberUnavailable, number(l.found.Unserved, isOut)
	if now.Sub(l.at) >= again || l.of != daemonSet.UID || l.generation != daemonSet.Generation || desired < l.desired ||
		missing < l.missing && missing <= out {
		found, err := l.ask(ctx, daemonSet)
		if err != nil {
			return Found{}, err
		}
		l.at, l.of, l.generation, l.found = now, daemonSet.UID, daemonSet.Generation, found
	}
	l.desired, l.missing = desired, missing
	return l.found, nil
}

func (l *Look) ask(ctx context.Context, daemonSet *appsv1.DaemonSet) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	var nodes []corev1.Node
	list := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return l.kube.CoreV1().Nodes().List(ctx, o)
	}
	err := pager.New(list).EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		if node, ok := o.(*corev1.Node); ok {
			nodes = append(nodes, corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels},
				Spec:       corev1.NodeSpec{Taints: node.Spec.Taints, Unschedulable: node.Spec.Unschedulable},
				Status:     corev1.NodeStatus{Conditions: node.Status.Conditions},
			})
		}
		return nil
	})
	if err != nil {
		return Found{}, fmt.Errorf("listing Nodes: %w", err)
	}
	selector, err := metav1.LabelSelectorAsSelector(daemonSet.Spec.Selector)
	if err != nil {
		return Found{}, fmt.Errorf("selector of DaemonSet %s: %w", daemonSet.Name, err)
	}
	var pods []corev1.Pod
	list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return l.kube.CoreV1().Pods(daemonSet.Namespace).List(ctx, o)
	}
	err = pager.New(list).EachListItem(ctx, metav1.ListOptions{LabelSelector: selector.String()}, func(o runtime.Object) error {
		if pod, ok := o.(*corev1.Pod); ok {
			pods = append(pods, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: pod.Name},
				Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName, Affinity: pod.Spec.Affinity},
				Status:     pod.Status,
			})
		}
		return nil
	})
	if err != nil {
		return Found{}, fmt.Errorf("listing pods of DaemonSet %s: %w", daemonSet.Name, err)
	}
	return find(daemonSet, nodes, pods, l.registered), nil
}
