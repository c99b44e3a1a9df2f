package operatorprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// restartAfter is how long an operator that has ended stays so, as a kubelet backs off.
const restartAfter = time.Second

// PodsConfig says whose pods to run. All is required but what says otherwise.
type PodsConfig struct {
	Client    kubernetes.Interface
	Namespace string
	// Selector of the pods that are run.
	Selector string
	// Binary is the path of the operator; see Binary.
	Binary string
	// Binaries are those of images with another version of the operator; nil means none.
	Binaries map[string]string
	// APIServer is the URL of the API server that pods find in their environment.
	APIServer string
	// Dir gets a folder for each pod.
	Dir string
	// Log is told what starts and ends.
	Log io.Writer
	// Ended is told how a process ended that nobody has stopped, before it is started again;
	// nil means nobody.
	Ended func(error)
}

// Pods does what a kubelet does for pods of fake nodes: each runs as a process of this
// machine, from when it is running until it is deleted.
type Pods struct {
	config PodsConfig
	lister corelisters.PodNamespaceLister
	wake   chan struct{}
	done   chan struct{}

	mu        sync.Mutex
	processes map[string]*Process
}

// RunPods runs pods until ctx ends, and ends them then.
func RunPods(ctx context.Context, config PodsConfig) (*Pods, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(config.Client, 0, informers.WithNamespace(config.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = config.Selector }))
	informer := factory.Core().V1().Pods()
	p := &Pods{
		config: config, lister: informer.Lister().Pods(config.Namespace),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		processes: map[string]*Process{},
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.look() }, UpdateFunc: func(any, any) { p.look() }, DeleteFunc: func(any) { p.look() },
	})
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
		return nil, fmt.Errorf("watching pods: %w", ctx.Err())
	}
	go p.run(ctx)
	return p, nil
}

func (p *Pods) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Pods) run(ctx context.Context) {
	defer close(p.done)
	tick := time.NewTicker(restartAfter)
	defer tick.Stop()
	said := ""
	for {
		var again <-chan time.Time
		if err := p.sync(ctx); err != nil && ctx.Err() == nil {
			// Mostly what a pod mounts is still to come.
			again = time.After(mountInterval)
			if text := err.Error(); text != said {
				fmt.Fprintf(p.config.Log, "running pods: %s\n", text)
				said = text
			}
		}
		select {
		case <-ctx.Done():
			p.stopAll()
			return
		case <-p.wake:
		case <-again:
		case <-tick.C:
		}
	}
}

// Done is closed when ctx has ended and no process is left.
func (p *Pods) Done() <-chan struct{} { return p.done }

// Processes are those that run, by the names of their pods.
func (p *Pods) Processes() map[string]*Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]*Process{}
	for name, process := range p.processes {
		out[name] = process
	}
	return out
}

// sync has one process for each running pod.
func (p *Pods) sync(ctx context.Context) error {
	pods, err := p.lister.List(labels.Everything())
	if err != nil {
		return err
	}
	wanted := map[string]*corev1.Pod{}
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			wanted[pod.Name] = pod
		}
	}
	var errs []error
	for name, process := range p.Processes() {
		if wanted[name] == nil {
			errs = append(errs, p.stop(name, process))
		}
	}
	for name, pod := range wanted {
		errs = append(errs, p.ensure(ctx, name, pod))
	}
	return errors.Join(errs...)
}

func (p *Pods) ensure(ctx context.Context, name string, pod *corev1.Pod) error {
	if process := p.Processes()[name]; process != nil {
		if process.Exited() == nil {
			return nil
		}
		fmt.Fprintf(p.config.Log, "pod %s: %v; starting again\n", name, process.Exited())
		if p.config.Ended != nil {
			p.config.Ended(process.Exited())
		}
		return process.Restart()
	}
	binary, other := p.config.Binaries[pod.Spec.Containers[0].Image]
	if !other {
		binary = p.config.Binary
	}
	process, err := start(ctx, Config{
		Pod: pod, Binary: binary, Client: p.config.Client, APIServer: p.config.APIServer, Dir: filepath.Join(p.config.Dir, name),
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.processes[name] = process
	fmt.Fprintf(p.config.Log, "pod %s: process %d\n", name, process.PID())
	return nil
}

// stop ends a process whose pod has gone.
func (p *Pods) stop(name string, process *Process) error {
	p.mu.Lock()
	delete(p.processes, name)
	p.mu.Unlock()
	if process.Exited() != nil {
		return nil
	}
	fmt.Fprintf(p.config.Log, "pod %s: ending\n", name)
	return process.Stop(context.Background())
}

func (p *Pods) stopAll() {
	var all sync.WaitGroup
	for name, process := range p.Processes() {
		all.Go(func() { _ = p.stop(name, process) })
	}
	all.Wait()
}
