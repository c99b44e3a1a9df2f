package process

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	leaderelectionconverter "github.com/openshift/library-go/pkg/config/leaderelection"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

// leases is an API server with at most one Lease.
type leases struct {
	mu    sync.Mutex
	lease *coordinationv1.Lease
	// done are the requests that were acted on, by their methods; meanwhile is called before each of
	// them is answered.
	done      map[string]int
	meanwhile func(method string, count int)
	// conflict is how what was written by the last request is answered.
	conflict bool
}

func (l *leases) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var given coordinationv1.Lease
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&given); err != nil || given.Kind == "Event" {
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		l.lease = &given
	}
	l.done[r.Method]++
	l.meanwhile(r.Method, l.done[r.Method])
	w.Header().Set("Content-Type", "application/json")
	if l.conflict {
		l.conflict = false
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Reason: metav1.StatusReasonConflict, Code: http.StatusConflict})
		return
	}
	if l.lease == nil {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
		return
	}
	l.lease.TypeMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	_ = json.NewEncoder(w).Encode(l.lease)
}

func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return ""
	}
	return ptr.Deref(l.lease.Spec.HolderIdentity, "")
}

// election is one of the process "pod".
func (l *leases) election(t *testing.T, retry time.Duration) leaderelection.LeaderElectionConfig {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	out, err := leaderelectionconverter.ToLeaderElectionWithLease(
		&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}},
		configv1.LeaderElection{
			Namespace: "ns", Name: "lock",
			LeaseDuration: metav1.Duration{Duration: 2 * time.Hour}, RenewDeadline: metav1.Duration{Duration: time.Hour}, RetryPeriod: metav1.Duration{Duration: retry},
		}, "operator", "pod")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLeadReleases ends a process at every moment at which it may have the lease.
func TestLeadReleases(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		reason  string
		exists  bool
		method  string
		count   int
		failing bool
	}{
		"Asking":   {reason: "it has none", method: http.MethodGet, count: 1},
		"Creating": {reason: "the API server has written what nobody waits for", method: http.MethodPost, count: 1},
		"Taking":   {reason: "the API server has written what nobody waits for", exists: true, method: http.MethodPut, count: 1},
		"Renewing": {reason: "the API server has written what nobody waits for", exists: true, method: http.MethodPut, count: 2},
		"Leading":  {reason: "it is ended later", method: http.MethodPut, count: 5},
		"Failing":  {reason: "controllers that fail need not be waited for", failing: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			api := &leases{done: map[string]int{}, meanwhile: func(method string, count int) {
				if method == tc.method && count == tc.count {
					end()
				}
			}}
			if tc.exists {
				api.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"}}
			}
			err := lead(ctx, api.election(t, time.Millisecond), func(ctx context.Context) error {
				if tc.failing {
					return broken
				}
				<-ctx.Done()
				return ctx.Err()
			})
			if tc.failing != errors.Is(err, broken) || !tc.failing && err != nil {
				t.Errorf("lead: %v", err)
			}
			if holder := api.holder(); holder != "" {
				t.Errorf("%s, and the lease is left with %q", tc.reason, holder)
			}
		})
	}
}

// TestLeadSoon has a pod follow on one that ends a little later, as in a rollout.
func TestLeadSoon(t *testing.T) {
	t.Parallel()
	const retry = 20 * time.Minute
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	api := &leases{done: map[string]int{}, lease: &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: &metav1.MicroTime{Time: time.Now()}},
	}}
	api.meanwhile = func(method string, count int) {
		if method == http.MethodGet && count == 2 {
			api.lease.Spec.HolderIdentity = ptr.To("")
		}
	}
	leads := false
	if err := lead(ctx, api.election(t, retry), func(context.Context) error {
		leads = true
		end()
		return nil
	}); err != nil {
		t.Error(err)
	}
	if !leads {
		t.Error("a minute after the lease was released, nobody has taken it")
	}
}

// TestLockIsRenewedSeldom: whoever looks often for a lease must not renew it as often.
func TestLockIsRenewedSeldom(t *testing.T) {
	api := &leases{done: map[string]int{}, meanwhile: func(string, int) {}}
	l := &lock{Interface: api.election(t, time.Millisecond).Lock, every: time.Hour}
	held := resourcelock.LeaderElectionRecord{HolderIdentity: "pod", LeaseDurationSeconds: 3600}
	for _, step := range []struct {
		reason string
		act    func() error
		writes int
	}{
		{"it takes the lease", func() error { return l.Create(t.Context(), held) }, 1},
		{"it has just written", func() error { return l.Update(t.Context(), held) }, 1},
		{"its last write is old", func() error { l.renewed = l.renewed.Add(-2 * time.Hour); return l.Update(t.Context(), held) }, 2},
		{"it releases the lease", func() error { return l.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1}) }, 3},
	} {
		if err := step.act(); err != nil {
			t.Errorf("%s: %v", step.reason, err)
		}
		if got := api.done[http.MethodPost] + api.done[http.MethodPut]; got != step.writes {
			t.Errorf("%s: %d writes, not %d", step.reason, got, step.writes)
		}
	}
	if holder := api.holder(); holder != "" {
		t.Errorf("a released lease is left with %q", holder)
	}
}

// TestLeadWaits: the process must not end under its controllers.
func TestLeadWaits(t *testing.T) {
	const long = 200 * time.Millisecond // for what follows at once
	released, returned := make(chan struct{}), make(chan struct{})
	api := &leases{done: map[string]int{}}
	api.meanwhile = func(string, int) {
		if api.lease != nil && ptr.Deref(api.lease.Spec.HolderIdentity, "") == "" {
			close(released)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan bool, 1)
	err := lead(ctx, api.election(t, time.Millisecond), func(context.Context) error {
		cancel()
		<-released
		select {
		case <-returned:
			gone <- false
		case <-time.After(long):
			gone <- true
		}
		return nil
	})
	close(returned)
	if !<-gone || err != nil {
		t.Errorf("it returns while the controllers still end: %v", err)
	}
}

// TestLeadEndsWhenTimeGoesBack: an etcd that was restored from a backup has an older lease of this very
// process. Its caches would go on without a word of what has come to be otherwise.
func TestLeadEndsWhenTimeGoesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		age    time.Duration
		holder string
		// transitions are how many more the lease has had.
		transitions int32
		want        error
	}{
		"Older":          {"it was written before", time.Hour, "pod", 0, errBack},
		"Newer":          {"it was written before the clock was set back", -time.Hour, "pod", 0, errBack},
		"Same":           {"a conflict alone says nothing", 0, "pod", 0, nil},
		"Another":        {"another process has taken it over, whatever its clock says", time.Hour, "other", 1, nil},
		"Released":       {"somebody has released it", time.Hour, "", 0, nil},
		"FormerProcess":  {"the one before this had it", time.Hour, "other", -1, errBack},
		"FormerReleased": {"the one before this had released it", time.Hour, "", -1, errBack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			api := &leases{done: map[string]int{}}
			api.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"}, Spec: coordinationv1.LeaseSpec{LeaseTransitions: ptr.To[int32](3)}}
			api.meanwhile = func(method string, count int) {
				switch {
				case method == http.MethodPut && count == 3:
					api.conflict = true
					api.lease.Spec.LeaseTransitions = ptr.To(*api.lease.Spec.LeaseTransitions + tc.transitions)
					api.lease.Spec.RenewTime = &metav1.MicroTime{Time: api.lease.Spec.RenewTime.Add(-tc.age)}
					api.lease.Spec.HolderIdentity = ptr.To(tc.holder)
				case api.done[http.MethodGet]+api.done[http.MethodPut] > 10:
					end()
				}
			}
			err := lead(ctx, api.election(t, time.Millisecond), func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

// TestFormer: an update may have been made whose answer was lost.
func TestFormer(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	for name, tc := range map[string]struct {
		written, tried, read int
		want                 bool
	}{
		"Written":         {written: 5, tried: 5, read: 5},
		"Older":           {written: 5, tried: 5, read: 4, want: true},
		"Newer":           {written: 5, tried: 5, read: 9, want: true},
		"Unanswered":      {written: 5, tried: 6, read: 6},
		"UnansweredTwice": {written: 5, tried: 7, read: 6},
		"NotMade":         {written: 5, tried: 6, read: 5},
		"SetBack":         {written: 65, tried: 6, read: 6},
		"SetBackNotMade":  {written: 65, tried: 6, read: 65},
		"SetBackOlder":    {written: 65, tried: 6, read: 4, want: true},
	} {
		l := lock{written: resourcelock.LeaderElectionRecord{RenewTime: metav1.Time{Time: at(tc.written)}}, tried: at(tc.tried)}
		if got := l.former(at(tc.read)); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
