// Package standins does what two OpenShift controllers do for everyone else's objects:
// service-ca-operator's serving certificates and the trusted CA bundle of cluster-network-operator; and
// what the kubelets that fake nodes lack do with CSI drivers.
package standins

import (
	"context"
	"fmt"
	"io"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
)

// StandIns are running ones.
type StandIns struct {
	client    kubernetes.Interface
	authority *controlplane.Authority
	log       io.Writer

	mu     sync.Mutex
	bundle string
}

// Start runs the stand-ins until ctx ends; the returned function then waits for their end. An
// empty bundle means a generated one, as no OpenShift injects nothing. Failures go to log
// and are tried again.
func Start(ctx context.Context, client kubernetes.Interface, bundle string, log io.Writer) (s *StandIns, wait func(), err error) {
	authority, err := controlplane.NewAuthority("embedded-service-ca")
	if err != nil {
		return nil, nil, err
	}
	if bundle == "" {
		trusted, err := controlplane.NewAuthority("embedded-trusted-ca")
		if err != nil {
			return nil, nil, err
		}
		bundle = string(trusted.PEM())
	}
	s = &StandIns{client: client, authority: authority, log: log, bundle: bundle}
	var running sync.WaitGroup
	for _, loop := range []*loop{s.servingCertificates(), s.trustedBundles()} {
		running.Go(func() { loop.run(ctx, log) })
	}
	return s, running.Wait, nil
}

// loop syncs keys that informers' events name.
type loop struct {
	name      string
	queue     workqueue.TypedRateLimitingInterface[string]
	informers []cache.SharedIndexInformer
	sync      func(ctx context.Context, key string) error
}

func newLoop(name string, sync func(ctx context.Context, key string) error) *loop {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	return &loop{name: name, queue: queue, sync: sync}
}

// watch queues the key of each changed object; an empty key is skipped.
func (l *loop) watch(informer cache.SharedIndexInformer, key func(object any) string) {
	add := func(object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if k := key(object); k != "" {
			l.queue.Add(k)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
		DeleteFunc: add,
	})
	if err != nil {
		panic(err) // Only a stopped informer refuses a handler; this one has not started.
	}
	l.informers = append(l.informers, informer)
}

func (l *loop) run(ctx context.Context, log io.Writer) {
	var informers sync.WaitGroup
	defer informers.Wait()
	for _, informer := range l.informers {
		informers.Go(func() { informer.RunWithContext(ctx) })
	}
	defer context.AfterFunc(ctx, l.queue.ShutDown)()
	for {
		key, shutdown := l.queue.Get()
		if shutdown {
			return
		}
		if err := l.sync(ctx, key); err != nil && ctx.Err() == nil {
			fmt.Fprintf(log, "%s of %s: %v\n", l.name, key, err)
			l.queue.AddRateLimited(key)
		} else {
			l.queue.Forget(key)
		}
		l.queue.Done(key)
	}
}
