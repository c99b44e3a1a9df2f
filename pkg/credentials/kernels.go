package credentials

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// Kernels are those of the nodes, by their names. A controller that has it among its informers wakes
// when one changes. The nodes are watched from the first question on: they write their status all the
// time, and few clusters have keys that not every kernel knows.
type Kernels struct {
	ctrl.Latest[map[string]string]
	informer cache.SharedIndexInformer
	ask      sync.Once
	asked    chan struct{}
}

// NewKernels watches nothing yet.
func NewKernels(kube kubernetes.Interface) (*Kernels, error) {
	k := &Kernels{informer: coreinformers.NewNodeInformer(kube, 12*time.Hour, cache.Indexers{}), asked: make(chan struct{})}
	if err := k.informer.SetTransform(kernelAlone); err != nil {
		return nil, fmt.Errorf("preparing the informer of Nodes: %w", err)
	}
	_, err := k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { k.tell() },
		UpdateFunc: func(before, after any) {
			if kernelOf(before) != kernelOf(after) {
				k.tell()
			}
		},
		DeleteFunc: func(any) { k.tell() },
	})
	return k, err
}

// All are not known at the first question.
func (k *Kernels) All() (map[string]string, bool) {
	k.ask.Do(func() { close(k.asked) })
	return k.Get()
}

// Run waits for the first question, and then watches the nodes until ctx ends.
func (k *Kernels) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-k.asked:
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
			k.tell()
		}
	}()
	k.informer.RunWithContext(ctx)
}

// tell says nothing before all nodes are known.
func (k *Kernels) tell() {
	if !k.informer.HasSynced() {
		return
	}
	all := map[string]string{}
	for _, object := range k.informer.GetStore().List() {
		if node, ok := object.(*corev1.Node); ok {
			all[node.Name] = kernelOf(node)
		}
	}
	k.Set(all)
}

func kernelOf(object any) string {
	node, ok := object.(*corev1.Node)
	if !ok {
		return ""
	}
	return node.Status.NodeInfo.KernelVersion
}

// kernelAlone keeps of a Node that it is there, and its kernel.
func kernelAlone(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: kernelOf(node)}},
	}, nil
}
