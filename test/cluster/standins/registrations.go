package standins

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
)

// StartRegistrations does, until ctx ends, what the kubelets of fake nodes would: the CSINode of a node
// has the drivers whose registrars run in ready pods there. The returned function then waits for its end.
func StartRegistrations(ctx context.Context, client kubernetes.Interface, log io.Writer) (wait func()) {
	byNode := cache.Indexers{"node": func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return nil, fmt.Errorf("%T is no pod", object)
		}
		return []string{pod.Spec.NodeName}, nil
	}}
	pods := coreinformers.NewPodInformer(client, metav1.NamespaceAll, 0, byNode)
	l := newLoop("CSINode", func(ctx context.Context, node string) error {
		held, err := pods.GetIndexer().ByIndex("node", node)
		if err != nil {
			return err
		}
		var drivers []string
		for _, object := range held {
			drivers = append(drivers, registered(object.(*corev1.Pod))...)
		}
		slices.Sort(drivers)
		return register(ctx, client, node, slices.Compact(drivers))
	})
	l.watch(pods, func(object any) string {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return ""
		}
		return pod.Spec.NodeName
	})
	var running sync.WaitGroup
	running.Go(func() { l.run(ctx, log) })
	return running.Wait
}

// socket is what a registrar tells the kubelet; its folder is named after the driver.
var socket = regexp.MustCompile(`^--kubelet-registration-path=.*/plugins/([^/]+)/[^/]+$`)

// registered are the drivers that a pod registers.
func registered(pod *corev1.Pod) (drivers []string) {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if !ready || pod.DeletionTimestamp != nil {
		return nil
	}
	for _, container := range pod.Spec.Containers {
		for _, argument := range slices.Concat(container.Command, container.Args) {
			if match := socket.FindStringSubmatch(argument); match != nil {
				drivers = append(drivers, match[1])
			}
		}
	}
	return drivers
}

func register(ctx context.Context, client kubernetes.Interface, name string, drivers []string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && node.Annotations[controlplane.FakeNodeAnnotation] == "" {
		return nil
	}
	if err != nil {
		return err
	}
	var wanted []storagev1.CSINodeDriver
	for _, d := range drivers {
		wanted = append(wanted, storagev1.CSINodeDriver{Name: d, NodeID: name})
	}
	csiNodes := client.StorageV1().CSINodes()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		held, err := csiNodes.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}
			_, err = csiNodes.Create(ctx, &storagev1.CSINode{
				ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}},
				Spec:       storagev1.CSINodeSpec{Drivers: wanted},
			}, metav1.CreateOptions{})
			return err
		}
		same := func(a, b storagev1.CSINodeDriver) bool { return a.Name == b.Name }
		if err != nil || slices.EqualFunc(held.Spec.Drivers, wanted, same) {
			return err
		}
		held.Spec.Drivers = wanted
		_, err = csiNodes.Update(ctx, held, metav1.UpdateOptions{})
		return err
	})
}
