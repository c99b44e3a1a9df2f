package proof

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	name = "CephWithdrawals"
	// noteInterval is how often the versions of the caches are noted; it asks nobody.
	noteInterval = time.Minute
)

// Config is what a Keeper works with.
type Config struct {
	ctrl.Env
	// Read takes a look; an error is whatever keeps it from seeing everything.
	Read func(ctx context.Context) (Look, error)
	// Cached are the resourceVersions that the caches have, by what they hold. Those of lists say less:
	// an API server may answer with one of its snapshots.
	Cached func() map[string]uint64
	// Apart is the time between two looks.
	Apart func() time.Duration
}

// Keeper is the controller that takes looks while something waits to be withdrawn, and none otherwise. Who has it among its
// informers wakes after each.
type Keeper struct {
	factory.Controller
	ctrl.Latest[time.Time]
	config Config
	// asked wakes the controller.
	asked ctrl.Latest[bool]

	mu      sync.Mutex
	waiting map[string]bool
	looks   chain
	seen    marks
	// tried is when the last look began; err is why it is none, and back that there is to be none now.
	tried     time.Time
	err, back error
}

// Looks are those of a process at its API server.
func Looks(env ctrl.Env, configJSON func() ([]ceph.ConfigEntry, error)) Config {
	informers := map[string]cache.SharedIndexInformer{Volumes: env.PersistentVolumes.Informer(), Classes: env.StorageClasses.Informer()}
	return Config{
		Env:  env,
		Read: Reader{Driver: env.Driver, Kube: env.Kube, Dynamic: env.Dynamic, Config: configJSON}.Read,
		Cached: func() map[string]uint64 {
			out := map[string]uint64{}
			for name, informer := range informers {
				if version, err := strconv.ParseUint(informer.LastSyncResourceVersion(), 10, 64); err == nil {
					out[name] = version
				}
			}
			return out
		},
		Apart: func() time.Duration {
			settings, err := env.Settings()
			if err != nil { // What cannot be read asks for no other than the default.
				return driver.Settings{}.Withdrawal()
			}
			return settings.Withdrawal()
		},
	}
}

// New returns a Keeper that has seen nothing.
func New(config Config) *Keeper {
	k := &Keeper{config: config, waiting: map[string]bool{}, seen: marks{}}
	k.Controller = factory.New().
		WithSync(k.sync).
		ResyncEvery(noteInterval).
		WithControllerInstanceName(name).
		WithInformers(&k.asked).
		ToController(name, config.Recorder)
	return k
}

// Wait says whether something of who's waits to be withdrawn.
func (k *Keeper) Wait(who string, waits bool) {
	k.mu.Lock()
	if waits {
		k.waiting[who] = true
	} else {
		delete(k.waiting, who)
	}
	some := len(k.waiting) > 0
	if !some {
		k.looks, k.tried, k.err = nil, time.Time{}, nil
	}
	k.mu.Unlock()
	k.asked.Set(some)
}

// Since returns what was in use in any of the looks that prove that something else is not, of which no
// use is known since a time. An error says why there is no proof; ErrNotYet goes by itself.
func (k *Keeper) Since(since time.Time) ([]usage.Usage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.back != nil {
		return nil, k.back
	}
	if k.err != nil {
		return nil, k.err
	}
	used, proven := k.looks.prove(since, k.config.Clock.Now(), k.config.Apart())
	if !proven {
		return nil, ErrNotYet
	}
	return used, nil
}

func (k *Keeper) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	apart := k.config.Apart()
	wanted, wait := k.due(apart)
	if wanted && wait <= 0 {
		begun := k.config.Clock.Now()
		look, err := k.config.Read(ctx)
		look.At = begun
		k.add(look, err, apart)
		wait = apart
	}
	if wanted {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
	}
	return nil
}

// due says whether looks are wanted, and after how long the next one is.
func (k *Keeper) due(apart time.Duration) (bool, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.back = k.seen.raise(k.config.Cached()); k.back != nil {
		k.looks = nil
		return false, 0
	}
	if len(k.waiting) == 0 {
		return false, 0
	}
	return true, apart - k.config.Clock.Since(k.tried)
}

// add notes a look, and wakes who waits. One that failed breaks the chain.
func (k *Keeper) add(look Look, err error, apart time.Duration) {
	k.mu.Lock()
	k.tried, k.err = look.At, err
	if err != nil {
		k.looks = nil
	} else if len(k.waiting) > 0 {
		k.looks = k.looks.with(look, apart)
	}
	k.mu.Unlock()
	k.Set(look.At)
}
