package virtualization

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// Watches hold what is read of kinds that come and go with their CRDs; see NewGate. A
// controller that has them among its informers wakes with every change. The zero value
// watches nothing.
type Watches struct {
	ctrl.Listeners
	mu sync.Mutex
	// open says that the driver is deployed, and Managed.
	// undecided says that the gate has yet to look.
	undecided bool
	open      bool
	running   map[string]*watch
	// awaited are kinds that are there, and that the operator may not read yet; with why not, if that is wrong.
	awaited map[string]error
}

// watch is the informer of one kind.
type watch struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	// failure is why a list or watch failed last; of interest until the first list has worked.
	failure error
}

// state is what is known of a kind.
type state int

const (
	// absent: the CRD is missing, or nothing is to be done.
	absent state = iota
	// loading: the first list has not answered yet, or the operator is yet to get the rights.
	loading
	// ready: all objects are known.
	ready
)

// NewWatches are those of a process that has just started: nothing is known to be absent.
func NewWatches() *Watches { return &Watches{undecided: true} }

// setOpen says whether the driver is deployed, and Managed.
func (w *Watches) setOpen(open bool) { w.set(&w.open, open) }

func (w *Watches) isOpen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// decide says that the gate has looked at every kind.
func (w *Watches) decide() { w.set(&w.undecided, false) }

func (w *Watches) set(fact *bool, to bool) {
	w.mu.Lock()
	news := *fact != to
	*fact = to
	w.mu.Unlock()
	if news {
		w.Wake()
	}
}

func (w *Watches) isUndecided() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undecided
}

// state of a kind. The error says why it is still loading.
func (w *Watches) state(k kind) (state, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.running[k.key()]
	problem, awaited := w.awaited[k.key()]
	switch {
	case w.undecided:
		return loading, nil
	case awaited:
		return loading, problem
	case held == nil:
		return absent, nil
	case !held.informer.HasSynced():
		return loading, held.failure
	}
	return ready, nil
}

// all is the state of several kinds: that of the first while it is not ready; of the others, one
// that is absent is empty.
func (w *Watches) all(first kind, others ...kind) (state, error) {
	known, problem := w.state(first)
	for _, k := range others {
		if known != ready {
			break
		}
		if s, why := w.state(k); s == loading {
			known, problem = s, why
		}
	}
	return known, problem
}

// resource of a kind in the version that is watched.
func (w *Watches) resource(k kind) (schema.GroupVersionResource, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.running[k.key()]
	if held == nil {
		return schema.GroupVersionResource{}, false
	}
	return held.resource, true
}

// list returns the objects that are known, sorted by name. Nobody may change them.
func (w *Watches) list(k kind) []*unstructured.Unstructured {
	w.mu.Lock()
	held := w.running[k.key()]
	w.mu.Unlock()
	if held == nil {
		return nil
	}
	var out []*unstructured.Unstructured
	for _, object := range held.informer.GetStore().List() {
		if u, ok := object.(*unstructured.Unstructured); ok {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, byName)
	return out
}

// get returns an object that is known, or nil.
func (w *Watches) get(k kind, name string) *unstructured.Unstructured {
	all := w.list(k)
	i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// follow watches a kind in the newest of the versions that are served, or ends that where
// there are none.
func (w *Watches) follow(ctx context.Context, client dynamic.Interface, k kind, served []string) error {
	w.mu.Lock()
	held := w.running[k.key()]
	w.mu.Unlock()
	if len(served) == 0 {
		w.forget(k)
		return nil
	}
	resource := k.WithVersion(slices.MaxFunc(served, version.CompareKubeAwareVersionStrings))
	if held != nil && held.resource == resource && !held.informer.IsStopped() {
		return nil
	}
	w.forget(k)
	return w.start(ctx, client, k, resource)
}

func (w *Watches) start(ctx context.Context, client dynamic.Interface, k kind, resource schema.GroupVersionResource) error {
	only := func(o *metav1.ListOptions) {
		o.LabelSelector = k.selector
		if k.name != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", k.name).String()
		}
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, metav1.NamespaceAll, 0, nil, only).Informer()
	ctx, stop := context.WithCancel(ctx)
	started := &watch{resource: resource, informer: informer, stop: stop}
	_, err := informer.AddEventHandler(ctrl.Waking(w.Wake))
	failed := func(_ context.Context, _ *cache.Reflector, err error) { w.fail(started, err) }
	if err = errors.Join(err, informer.SetTransform(k.trim), informer.SetWatchErrorHandlerWithContext(failed)); err != nil {
		stop()
		return fmt.Errorf("watching %s: %w", k.crd(), err)
	}
	w.mu.Lock()
	if w.running == nil {
		w.running = map[string]*watch{}
	}
	w.running[k.key()] = started
	w.mu.Unlock()
	go informer.RunWithContext(ctx)
	go func() {
		// An empty list wakes nobody.
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			w.Wake()
		}
	}()
	return nil
}

// fail keeps why a kind cannot be read, to be told while it is loading.
func (w *Watches) fail(of *watch, err error) {
	w.mu.Lock()
	news := of.failure == nil
	of.failure = err
	w.mu.Unlock()
	if news {
		w.Wake()
	}
}

// await ends the watch of a kind that is there until the operator may read it. The error says what keeps it from
// getting the rights.
func (w *Watches) await(k kind, problem error) {
	w.mu.Lock()
	held := w.running[k.key()]
	delete(w.running, k.key())
	before, awaited := w.awaited[k.key()]
	if w.awaited == nil {
		w.awaited = map[string]error{}
	}
	w.awaited[k.key()] = problem
	w.mu.Unlock()
	if held != nil {
		held.stop()
	}
	if held != nil || !awaited || (before == nil) != (problem == nil) {
		w.Wake()
	}
}

func (w *Watches) forget(k kind) {
	w.mu.Lock()
	held := w.running[k.key()]
	_, awaited := w.awaited[k.key()]
	delete(w.running, k.key())
	delete(w.awaited, k.key())
	w.mu.Unlock()
	if held != nil {
		held.stop()
	}
	if held != nil || awaited {
		w.Wake()
	}
}

func byName(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) }
