package teardown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// fakeUsers are the cephx users of a cluster in memory, and pools.
type fakeUsers struct {
	users    []string
	sessions []ceph.Session
	blind    error
	denied   bool
	pools    []ceph.Pool
	// watched are who watches, by pool and object.
	watched map[string][]ceph.Watcher
	// lastWatched are the times of those objects.
	lastWatched map[string]time.Time
	// silent are OSDs that do not answer who removes what is watched, all or those of silentPool.
	silent     bool
	silentPool string
}

func (f *fakeUsers) Watchers(_ context.Context, pool, object string) ([]ceph.Watcher, error) {
	return f.watched[pool+"/"+object], nil
}

func (f *fakeUsers) LastWatched(_ context.Context, pool, object string) (time.Time, error) {
	at, found := f.lastWatched[pool+"/"+object]
	if !found {
		return at, ceph.ErrNotFound
	}
	return at, nil
}

func (f *fakeUsers) RemoveWatched(ctx context.Context, pool, object string) error {
	if f.silent || f.silentPool == pool {
		<-ctx.Done()
		return fmt.Errorf("pool %q: %w", pool, ceph.ErrTimeout)
	}
	delete(f.watched, pool+"/"+object)
	return nil
}

func (f *fakeUsers) User(_ context.Context, id string) (ceph.User, error) {
	if f.denied {
		return ceph.User{}, ceph.ErrDenied
	}
	if !slices.Contains(f.users, id) {
		return ceph.User{}, ceph.ErrNotFound
	}
	return ceph.User{}, nil
}

func (f *fakeUsers) UserIDs(context.Context) ([]string, error) { return f.users, nil }

func (f *fakeUsers) Sessions(context.Context) ([]ceph.Session, error) { return f.sessions, f.blind }

func (f *fakeUsers) RemoveUser(_ context.Context, id string) error {
	f.users = slices.DeleteFunc(f.users, func(other string) bool { return other == id })
	return nil
}

func (f *fakeUsers) Pools(ctx context.Context) ([]ceph.Pool, error) { return f.pools, ctx.Err() }

func (f *fakeUsers) Try(context.Context, ceph.Trial) error { return nil }

// marking guards the pools of fakeUsers, which are marked at the same time.
var marking sync.Mutex

func (f *fakeUsers) SetNoDelete(_ context.Context, pool string, on bool) error {
	marking.Lock()
	defer marking.Unlock()
	f.pool(pool).NoDelete = on
	return nil
}

func (f *fakeUsers) SetPoolMetadata(_ context.Context, pool, application, key, value string) error {
	marking.Lock()
	defer marking.Unlock()
	f.pool(pool).Metadata[application][key] = value
	return nil
}

func (f *fakeUsers) RemovePoolMetadata(_ context.Context, pool, application, key string) error {
	marking.Lock()
	defer marking.Unlock()
	delete(f.pool(pool).Metadata[application], key)
	return nil
}

func (f *fakeUsers) pool(name string) *ceph.Pool {
	return &f.pools[slices.IndexFunc(f.pools, func(p ceph.Pool) bool { return p.Name == name })]
}

func marks(infraIDs ...string) map[string]map[string]string {
	keys := map[string]string{"storage.openshift.io.nodelete": "set-by-an-operator"}
	for _, id := range infraIDs {
		keys["storage.openshift.io.nodelete."+id+".rbd"] = "in-use"
	}
	return map[string]map[string]string{"rbd": keys}
}

func TestUsers(t *testing.T) {
	all := []string{"csi-rbd-node.a", "csi-rbd-node.b", "admin"}
	node := []ceph.Session{{Entity: "client.csi-rbd-node.a", Host: "n1"}, {Entity: "client.csi-rbd-node.a"}, {Entity: "client.csi-rbd-node.b", Host: "n2"}}
	claimed, others := []ceph.Pool{{ID: 1, Name: "p", Metadata: marks("a", "b")}}, []ceph.Pool{{ID: 1, Name: "p", Metadata: marks("b")}}
	ran := map[string]time.Time{"p/running.a.rbd": time.Unix(1, 0)}
	tests := map[string]struct {
		reason  string
		ceph    fakeUsers
		options Options
		before  []Decision
		keep    bool
		left    []string
		code    int
		alive   string
	}{
		"Removed":   {reason: "nobody is connected", ceph: fakeUsers{users: all, sessions: node[2:]}, left: []string{"csi-rbd-node.b", "admin"}},
		"Kept":      {reason: "--keep-users", ceph: fakeUsers{users: all}, keep: true, left: all},
		"Limited":   {reason: "volumes of the cluster stay elsewhere", ceph: fakeUsers{users: all}, options: Options{Pools: []string{"p"}}, left: all},
		"Connected": {reason: "the cluster lives", ceph: fakeUsers{users: all, sessions: node}, left: all, code: CodeRefused, alive: "client.csi-rbd-node.a is connected from an unnamed host, n1; an image that a node maps read-only does not show in Ceph that it is in use"},
		"Forced":    {reason: "a user in use stays even so", ceph: fakeUsers{users: all, sessions: node}, options: Options{Force: true}, left: all, code: CodeRefused, alive: "connected"},
		"Blind":     {reason: "its operators may be older than their watches", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout, pools: claimed}, left: all, code: CodeRefused, alive: "cannot be seen"},
		"BlindAlive": {reason: "its operator runs", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout, pools: claimed, lastWatched: ran, watched: map[string][]ceph.Watcher{"p/running.a.rbd": {{Client: 7}}}},
			left: all, code: CodeRefused, alive: "cannot be seen"},
		"BlindDead": {reason: "its claim is dead, and no volume is left", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout, pools: claimed, lastWatched: ran},
			left: []string{"csi-rbd-node.b", "admin"}},
		"BlindDeadWithVolumes": {reason: "its claim is dead, but a volume is there", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout, pools: claimed, lastWatched: ran},
			before: []Decision{{Item{Kind: Image, Tag: "a"}, Remove, ""}}, left: all, code: CodeRefused, alive: "cannot be seen"},
		"DeadConnected": {reason: "the driver outlives its operator", ceph: fakeUsers{users: all, sessions: node, pools: claimed, lastWatched: ran}, left: all, code: CodeRefused, alive: "connected"},
		"BlindWithVolumes": {reason: "it has no claim, but a volume", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout}, before: []Decision{{Item{Kind: Image, Tag: "a"}, Keep, "Retain"}},
			left: all, code: CodeRefused, alive: "cannot be seen"},
		"BlindUnreadable": {reason: "nobody knows whose a volume is", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout}, before: []Decision{{Item{Kind: Subvolume}, Refuse, "unreadable"}},
			left: all, code: CodeRefused, alive: "cannot be seen"},
		"BlindGone": {reason: "it has neither claim nor volume any more", ceph: fakeUsers{users: all, blind: ceph.ErrTimeout, pools: others},
			left: []string{"csi-rbd-node.b", "admin"}},
		"NamedStays": {reason: "the cluster's own PersistentVolume names a volume that stays", ceph: fakeUsers{users: all}, options: Options{Ours: func(i Item) bool { return i.Name == "x" }},
			before: []Decision{{Item{Kind: Image, Name: "x", Tag: "a"}, Keep, "Retain"}}, left: all},
		"NamedGoes": {reason: "it goes", ceph: fakeUsers{users: all}, options: Options{Ours: func(Item) bool { return true }},
			before: []Decision{{Item{Kind: Image, Name: "x", Tag: "a"}, Remove, ""}}, left: []string{"csi-rbd-node.b", "admin"}},
		"None":   {reason: "never minted", ceph: fakeUsers{users: []string{"admin"}, blind: ceph.ErrTimeout}, left: []string{"admin"}},
		"Denied": {reason: "it is not even known whether they exist", ceph: fakeUsers{users: all, denied: true, sessions: node}, left: all, alive: "connected"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.options.InfraID, tc.ceph.users = "a", slices.Clone(tc.ceph.users)
			part := NewUsers(tc.options, &tc.ceph, []string{"csi-rbd-node.a", "csi-cephfs-node.a"}, tc.keep)
			report, err := Run(t.Context(), Config{Options: tc.options, Parts: []Part{&shelf{found: Findings{Decisions: tc.before}}, part}, Out: &bytes.Buffer{}})
			if err != nil || report.Code() != tc.code || !slices.Equal(tc.ceph.users, tc.left) {
				t.Errorf("%s: %v, exit code %d, users %q, %+v", tc.reason, err, report.Code(), tc.ceph.users, report.Items)
			}
			if alive := strings.Join(report.Alive, "; "); !strings.Contains(alive, tc.alive) || tc.alive == "" && alive != "" {
				t.Errorf("%s: alive %q", tc.reason, alive)
			}
		})
	}
}

func TestUsersOfAnotherCluster(t *testing.T) {
	for _, options := range []Options{{InfraID: "a"}, {InfraID: ""}, {InfraID: " "}} {
		f := &fakeUsers{users: []string{"csi-rbd-node.b", "csi-rbd-node."}}
		if _, err := NewUsers(options, f, f.users, false).Find(t.Context(), nil); err == nil {
			t.Errorf("infra ID %q finds users of another cluster", options.InfraID)
		}
		if _, err := NewProtections(options, f, []string{"rbd"}).Find(t.Context(), nil); (err == nil) != (options.InfraID == "a") || err != nil && !errors.Is(err, ErrNoInfraID) {
			t.Errorf("infra ID %q releases pools: %v", options.InfraID, err)
		}
	}
}

func TestProtections(t *testing.T) {
	stays := Decision{Item{Kind: Image, Name: "x", Tag: "a"}, Keep, "Retain"}
	foreign := Decision{Item{Kind: Image, Name: "x"}, Keep, "nobody knows whose"}
	unread := Decision{Item{Kind: Subvolume, Name: "x"}, Refuse, "whose it is cannot be read"}
	tests := map[string]struct {
		reason   string
		before   []Decision
		options  Options
		users    []string
		released bool
		flagged  bool
		code     int
	}{
		"Released":     {reason: "the last user goes", users: []string{"a"}, before: []Decision{foreign}, released: true},
		"OtherCluster": {reason: "another cluster uses the pool", users: []string{"a", "b"}, released: true, flagged: true},
		"VolumeStays":  {reason: "a volume of the cluster stays", users: []string{"a"}, before: []Decision{stays}, flagged: true},
		"Unreadable":   {reason: "it may be the cluster's", users: []string{"a"}, before: []Decision{unread}, flagged: true, code: CodeRefused},
		"Limited":      {reason: "volumes elsewhere stay", users: []string{"a"}, options: Options{Filesystems: []string{"f"}}, flagged: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fakeUsers{pools: []ceph.Pool{{ID: 1, Name: "p", NoDelete: true, Applications: []string{"rbd"}, Metadata: marks(tc.users...)}}}
			tc.options.InfraID = "a"
			parts := []Part{&shelf{found: Findings{Decisions: tc.before}}, NewProtections(tc.options, f, []string{"rbd", "cephfs"})}
			report, err := Run(t.Context(), Config{Options: tc.options, Parts: parts, Out: &bytes.Buffer{}})
			_, left := f.pools[0].Metadata["rbd"]["storage.openshift.io.nodelete.a.rbd"]
			if err != nil || report.Code() != tc.code || left == tc.released || f.pools[0].NoDelete != tc.flagged {
				t.Errorf("%s: %v, %+v, %+v", tc.reason, err, report.Items, f.pools)
			}
			if !tc.released && !slices.ContainsFunc(report.Items, func(l Line) bool { return l.Kind == Protection && l.Verdict == Keep }) {
				t.Errorf("%s: not listed", tc.reason)
			}
		})
	}
}

// TestProtectionsWithoutOSDs: marks need mons alone.
func TestProtectionsWithoutOSDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeUsers{silent: true, pools: []ceph.Pool{
			{ID: 1, Name: "p", NoDelete: true, Applications: []string{"rbd"}, Metadata: marks("a")},
			{ID: 2, Name: "q", Applications: []string{"rbd"}},
		}}
		begin := time.Now()
		options := Options{InfraID: "a"}
		_, err := Run(t.Context(), Config{Options: options, Parts: []Part{NewProtections(options, f, []string{"rbd", "cephfs"})}, Out: &bytes.Buffer{}})
		if _, left := f.pools[0].Metadata["rbd"]["storage.openshift.io.nodelete.a.rbd"]; err != nil || left || f.pools[0].NoDelete {
			t.Errorf("OSDs do not answer, and the marks stay: %v, %+v", err, f.pools)
		}
		if took := time.Since(begin); took > CallLimit {
			t.Errorf("pools that do not answer are waited for one after the other: %v", took)
		}
	})
}

// TestProtectionsBesideInactivePools: what a cluster has not claimed keeps nothing from its end.
func TestProtectionsBesideInactivePools(t *testing.T) {
	for pool, code := range map[string]int{"p": CodeFailed, "q": CodeDone} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeUsers{silentPool: pool, watched: map[string][]ceph.Watcher{}, pools: []ceph.Pool{
				{ID: 1, Name: "p", NoDelete: true, Applications: []string{"rbd"}, Metadata: marks("a")},
				{ID: 2, Name: "q", Applications: []string{"rbd"}},
			}}
			options := Options{InfraID: "a"}
			var out bytes.Buffer
			report, err := Run(t.Context(), Config{Options: options, Parts: []Part{NewProtections(options, f, []string{"rbd", "cephfs"})}, Out: &out})
			if err != nil || report.Code() != code || !strings.Contains(out.String(), `pool "`+pool+`"`) {
				t.Errorf("pool %s is silent: %v, exit code %d\n%s", pool, err, report.Code(), out.String())
			}
		})
	}
}
