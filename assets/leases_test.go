package assets_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// electing are the sidecars that run in both replicas and must not act in both.
var electing = map[string]bool{"csi-provisioner": true, "csi-attacher": true, "csi-resizer": true, "csi-snapshotter": true}

func TestLeaderElection(t *testing.T) {
	for _, w := range workloads(t) {
		if w.node {
			continue
		}
		missing := maps.Clone(electing)
		for _, c := range w.template.Spec.Containers {
			elects := slices.Contains(c.Args, "--leader-election=true") &&
				slices.Contains(c.Args, "--leader-election-namespace="+driver.Namespace)
			if electing[c.Name] != elects {
				t.Errorf("%s: %s elects a leader: %v, want %v", w.meta.Name, c.Name, elects, electing[c.Name])
			}
			delete(missing, c.Name)
		}
		if len(missing) > 0 {
			t.Errorf("%s lacks sidecars %v", w.meta.Name, missing)
		}
	}
}

// TestLeasesMayBeRenewed: a sidecar makes its Lease under whatever name, and ends where the role has another one.
// It asks for nothing else: only what is not there yet has no name to the API server.
func TestLeasesMayBeRenewed(t *testing.T) {
	for _, d := range driver.All {
		want := []string{"create "}
		for _, name := range d.SidecarLeases() {
			want = append(want, "get "+name, "update "+name)
		}
		var got []string
		for _, r := range rightsOf(operandRBAC(t, d).roles["Role ceph-"+d.Kind+"-csi-driver-lease-leader-election"]) {
			got = append(got, r.Verb+" "+r.Name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
		}
	}
}

// lease are the durations of an election. A leader that cannot renew ends retry + renew after
// it last did; a candidate asks every retry to 2.2 retry.
type lease struct{ duration, renew, retry time.Duration }

func leaseOf(t *testing.T, c corev1.Container) lease {
	t.Helper()
	var out lease
	for flag, value := range map[string]*time.Duration{
		"--leader-election-lease-duration=": &out.duration,
		"--leader-election-renew-deadline=": &out.renew,
		"--leader-election-retry-period=":   &out.retry,
	} {
		for _, arg := range c.Args {
			if text, given := strings.CutPrefix(arg, flag); given {
				d, err := time.ParseDuration(text)
				if err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
				*value = d
			}
		}
	}
	return out
}

func TestLeases(t *testing.T) {
	tests := map[string]struct {
		reason string
		holds  func(l lease, sidecar string) bool
	}{
		"NeverTwoLeaders": {"the old leader ends before another may begin", func(l lease, _ string) bool {
			return l.duration > l.renew+l.retry && l.retry > 0
		}},
		"ReleasedIsTaken": {"a claim is bound within 20 s after a pod ended", func(l lease, _ string) bool {
			return l.retry*22/10 < 18*time.Second
		}},
		"APIOutage": {"a minute without the API server restarts no pod", func(l lease, sidecar string) bool {
			return sidecar == "csi-snapshotter" || l.retry > 0 && l.renew/l.retry*l.retry-l.retry >= time.Minute
		}},
		"Killed": {"nobody releases the lease of a node that died", func(l lease, _ string) bool {
			return l.duration <= 90*time.Second
		}},
		"SnapshotterIsKilled": {"it cannot release its lease while it cares for group snapshots", func(l lease, sidecar string) bool {
			return sidecar != "csi-snapshotter" || l.duration <= 30*time.Second
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, w := range workloads(t) {
				for _, c := range w.template.Spec.Containers {
					if electing[c.Name] && !tc.holds(leaseOf(t, c), c.Name) {
						t.Errorf("%s: %s of %s has %+v", tc.reason, c.Name, w.meta.Name, leaseOf(t, c))
					}
				}
			}
		})
	}
}
