package check

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// callTimeout leaves time for one election of the mons.
	callTimeout = 10 * time.Second
	// reachTimeout is plenty for a handshake.
	reachTimeout = 3 * time.Second
)

// gather asks everybody. Ceph and Kubernetes are asked side by side, and what depends on both
// afterwards.
func gather(ctx context.Context, config Config) facts {
	config.CallTimeout = cmp.Or(config.CallTimeout, callTimeout)
	var f facts
	f.conf = ask(ctx, config.CallTimeout, func(ctx context.Context) (declared, error) {
		fsid, mons, err := ceph.ParseDeclaredMons(ctx, config.Conf.Content, config.Resolve)
		return declared{fsid, mons}, err
	})
	f.user = ask(ctx, config.CallTimeout, func(context.Context) (ceph.Credentials, error) {
		return ceph.ParseDeclaredUser(config.Keyring.Content, config.User)
	})
	var session Ceph
	together(
		func() {
			f.cluster = gatherCluster(ctx, config)
			if secret := f.cluster.secret.value; secret != nil {
				f.secretSource = ask(ctx, config.CallTimeout, func(ctx context.Context) (ceph.Source, error) {
					return ceph.ParseSource(ctx, secret.Data, config.Resolve)
				})
			}
		},
		func() { session = f.gatherCeph(ctx, config) },
	)
	if session == nil {
		return f
	}
	defer session.Close()
	f.places = f.findPlaces(ctx, config)
	f.gatherPlaces(ctx, config, session)
	return f
}

// gatherCeph returns the session, or nil.
func (f *facts) gatherCeph(ctx context.Context, config Config) Ceph {
	var session Ceph
	together(
		func() { f.reach = reachAll(ctx, config, f.conf.value.mons) },
		func() { session = f.connect(ctx, config) },
	)
	if session == nil {
		return nil
	}
	f.gatherOverview(ctx, config, session)
	var more []ceph.Address
	for _, mon := range f.monMap.value.Mons {
		for _, address := range mon.Addrs {
			if _, tried := f.reach[address]; !tried {
				more = append(more, address)
			}
		}
	}
	for address, err := range reachAll(ctx, config, more) {
		f.reach[address] = err
	}
	return session
}

// connect makes the session. Its own deadline lies in the dialer, and in ctx.
func (f *facts) connect(ctx context.Context, config Config) Ceph {
	if !f.conf.known() || !f.user.known() {
		return nil
	}
	session, err := config.Dial(ctx, ceph.Source{
		Monitors: f.conf.value.mons, FSID: f.conf.value.fsid, Credentials: f.user.value,
	})
	if err != nil {
		f.fsid = fact[string]{err: err, asked: true}
		return nil
	}
	f.fsid = ask(ctx, config.CallTimeout, session.FSID)
	return session
}

func (f *facts) gatherOverview(ctx context.Context, config Config, session Ceph) {
	timeout := config.CallTimeout
	together(
		func() { f.monMap = ask(ctx, timeout, session.MonMap) },
		func() { f.quorum = ask(ctx, timeout, session.Quorum) },
		func() { f.versions = ask(ctx, timeout, session.Versions) },
		func() { f.clocks = ask(ctx, timeout, session.Clocks) },
		func() { f.pools = ask(ctx, timeout, session.Pools) },
		func() {
			f.dataPool = ask(ctx, timeout, func(ctx context.Context) (string, error) { return session.ClientOption(ctx, defaultDataPool) })
		},
		func() { f.filesystems = ask(ctx, timeout, session.FileSystems) },
		func() { f.filesystemPools = ask(ctx, timeout, session.FilesystemPools) },
		func() {
			f.self = ask(ctx, timeout, func(ctx context.Context) (ceph.User, error) {
				return session.User(ctx, f.user.value.UserID)
			})
		},
	)
	f.trials = tryAll(ctx, config, session, monTrials)
	if !f.mints() {
		f.power = ask(ctx, timeout, func(ctx context.Context) (string, error) {
			return driver.PowerOverUsers(ctx, session.Try, f.user.value)
		})
	}
}

// gatherPlaces asks what depends on where volumes will be, all at once: an OSD takes seconds to refuse
// by silence.
func (f *facts) gatherPlaces(ctx context.Context, config Config, session Ceph) {
	var mu sync.Mutex
	var work []func()
	f.objects = map[poolNamespace]fact[ceph.ObjectRights]{}
	f.groups = map[string]fact[[]string]{}
	for _, d := range config.Drivers {
		p := f.places[d.Name]
		for _, where := range f.poolsOf(d, p) {
			work = append(work, func() {
				answer := ask(ctx, config.CallTimeout, func(ctx context.Context) (ceph.ObjectRights, error) {
					return session.ObjectRights(ctx, where.pool, where.namespace)
				})
				mu.Lock()
				defer mu.Unlock()
				f.objects[where] = answer
			})
		}
	}
	// The mgr is asked one thing after the other.
	together(append(work, func() { f.gatherManager(ctx, config, session) })...)
}

func (f *facts) gatherManager(ctx context.Context, config Config, session Ceph) {
	for _, d := range config.Drivers {
		p := f.places[d.Name]
		for prefix, err := range tryAll(ctx, config, session, profiles[d.Kind].managerTrials(p)) {
			f.trials[prefix] = err
		}
		// Without an active MDS the question would block the mgr for everyone.
		if fs := p.Filesystem; fs != "" && p.err == nil {
			f.groups[fs] = ask(ctx, config.CallTimeout, func(ctx context.Context) ([]string, error) {
				return session.SubvolumeGroups(ctx, fs)
			})
		}
	}
}

// tryAll asks one after the other, and gives up at the first that is not answered: the others
// would not be either.
func tryAll(ctx context.Context, config Config, session Ceph, trials []ceph.Trial) map[string]error {
	out := map[string]error{}
	for _, trial := range trials {
		answer := ask(ctx, config.CallTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, session.Try(ctx, trial)
		})
		out[trial.Prefix] = answer.err
		if errors.Is(answer.err, ceph.ErrTimeout) {
			break
		}
	}
	return out
}

// reachAll tries all addresses at once.
func reachAll(ctx context.Context, config Config, addresses []ceph.Address) map[ceph.Address]error {
	out := map[ceph.Address]error{}
	var mu sync.Mutex
	var work []func()
	for _, address := range addresses {
		work = append(work, func() {
			ctx, cancel := context.WithTimeout(ctx, reachTimeout)
			defer cancel()
			err := config.Reach(ctx, address)
			mu.Lock()
			defer mu.Unlock()
			out[address] = err
		})
	}
	together(work...)
	return out
}

// together returns when all have returned.
func together(work ...func()) {
	var group sync.WaitGroup
	for _, f := range work {
		group.Go(f)
	}
	group.Wait()
}
