package usage

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Contents has the VolumeSnapshotContents of the driver, and of others like it, while their CRD exists: an informer of a kind
// that the API server does not know would fail for ever. A controller that has it among its
// informers wakes with every change.
type Contents struct {
	client dynamic.Interface
	clock  clock.PassiveClock
	driver driver.Driver

	ctrl.Listeners
	mu sync.Mutex
	// followed says that it is known whether the CRD exists; without it there is no informer.
	followed bool
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	// listing and watching are why the last list, or watch, failed; nil since one worked.
	listing, watching error
	// refused is since when one is forbidden, told that people are told why they cannot be read.
	refused time.Time
	told    bool
}

// refusedFor is how long reading must be forbidden before that is told: an API server that has just started refuses until it has
// read the roles.
const refusedFor = 10 * time.Second

// NewContents returns those of a driver; none are known before Follow.
func NewContents(client dynamic.Interface, clock clock.PassiveClock, d driver.Driver) *Contents {
	return &Contents{client: client, clock: clock, driver: d}
}

// Taken returns those that have a handle; not known before the first list. The error is why they may be
// outdated, or why they are not known.
func (s *Contents) Taken() (all []*Content, known bool, err error) {
	contents, known, err := s.contents()
	for _, c := range contents {
		if c.Handle != "" {
			all = append(all, &c.Content)
		}
	}
	return all, known, err
}

// Problem is why they may be outdated, or are not known.
func (s *Contents) Problem() error {
	_, _, err := s.contents()
	return err
}

// Count returns how many of the driver there are in the cache.
func (s *Contents) Count() int {
	count := 0
	contents, _, _ := s.contents()
	for _, c := range contents {
		if c.Content.Name != "" {
			count++
		}
	}
	return count
}

// used are those of other drivers like this one, too.
func (s *Contents) used() (all []Snapshot, known bool) {
	contents, known, _ := s.contents()
	for _, c := range contents {
		if c.Handle != "" {
			all = append(all, Snapshot{Driver: s.driver.Name, Handle: c.Handle})
		}
		if c.others.Handle != "" {
			all = append(all, c.others)
		}
	}
	return all, known
}

func (s *Contents) contents() (all []*kept, known bool, err error) {
	s.mu.Lock()
	informer, followed, problem := s.informer, s.followed, s.problem()
	s.mu.Unlock()
	if informer == nil {
		return nil, followed, nil
	}
	if !informer.HasSynced() {
		return nil, false, problem
	}
	for _, object := range informer.GetStore().List() {
		if c, ok := object.(*kept); ok {
			all = append(all, c)
		}
	}
	if !apierrors.IsForbidden(problem) {
		problem = nil // A watch ends and begins again all the time.
	}
	return all, true, problem
}

func (s *Contents) problem() error {
	for _, err := range []error{s.listing, s.watching} {
		if err == nil {
			continue
		}
		err = fmt.Errorf("VolumeSnapshotContents cannot be read: %w", err)
		if apierrors.IsForbidden(err) {
			if s.clock.Since(s.refused) < refusedFor {
				return nil
			}
			err = fmt.Errorf("%w; allow ServiceAccount %s/%s to list and watch them, as ClusterRole %s-clusterrole of this version does",
				err, driver.Namespace, s.driver.OperatorName(), s.driver.OperatorName())
		}
		return err
	}
	return nil
}

// Follow starts or ends the watch as the CRD, which may be served or not, demands. It runs until
// ctx ends. One worker calls it.
func (s *Contents) Follow(ctx context.Context, served bool) error {
	s.mu.Lock()
	running, news := s.informer != nil, !s.followed || served != (s.informer != nil)
	s.followed = true
	if !served && running {
		s.stop()
		s.informer, s.listing, s.watching, s.refused, s.told = nil, nil, nil, time.Time{}, false
	}
	s.mu.Unlock()
	if served && !running {
		return s.start(ctx)
	}
	if news {
		s.Wake()
	}
	return nil
}

func (s *Contents) start(ctx context.Context) error {
	client := s.client.Resource(ctrl.SnapshotContents)
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, o)
			s.listed(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			changes, err := client.Watch(ctx, o)
			s.watched(err)
			return changes, err
		},
	}, s.client), &unstructured.Unstructured{}, 0, cache.Indexers{})
	if err := informer.SetTransform(s.trim); err != nil {
		return fmt.Errorf("watching VolumeSnapshotContents: %w", err)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if c, ok := object.(*kept); ok && c.Handle+c.others.Handle != "" {
				s.Wake()
			}
		},
		UpdateFunc: func(before, after any) {
			was, ok := before.(*kept)
			if is, same := after.(*kept); !ok || !same || was.Content != is.Content || was.others != is.others {
				s.Wake()
			}
		},
		DeleteFunc: func(any) { s.Wake() },
	})
	if err != nil {
		return fmt.Errorf("watching VolumeSnapshotContents: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	s.mu.Lock()
	s.informer, s.stop = informer, stop
	s.mu.Unlock()
	go informer.RunWithContext(ctx)
	go func() {
		// An empty list wakes nobody.
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			s.Wake()
		}
	}()
	return nil
}

func (s *Contents) listed(err error) { s.note(&s.listing, err) }

// watched also ends what was wrong with a list: a watch begins after one, or tells all there is, and no list comes any more.
func (s *Contents) watched(err error) {
	if err == nil {
		s.note(&s.listing, nil)
	}
	s.note(&s.watching, err)
}

// note keeps how the last list or watch went, and wakes those who watch when there is something else to tell.
func (s *Contents) note(last *error, err error) {
	s.mu.Lock()
	*last = err
	switch forbidden := apierrors.IsForbidden(s.listing) || apierrors.IsForbidden(s.watching); {
	case !forbidden:
		s.refused = time.Time{}
	case s.refused.IsZero():
		s.refused = s.clock.Now()
	}
	before := s.told
	s.told = s.problem() != nil
	news := s.told != before
	s.mu.Unlock()
	if news {
		s.Wake()
	}
}
