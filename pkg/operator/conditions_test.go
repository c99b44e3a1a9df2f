package operator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// server applies as an API server does: what the field manager leaves out, it takes back.
type server struct {
	finalizable
	applied []string
	writes  int
	fail    error
}

func (s *server) ApplyOperatorStatus(ctx context.Context, manager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	s.writes++
	if s.fail != nil {
		return s.fail
	}
	types := typesOf(status)
	all := applyoperatorv1.OperatorStatus()
	all.Conditions = slices.Clone(status.Conditions)
	for _, before := range s.applied {
		if !slices.Contains(types, before) {
			all.WithConditions(condition.Absent(before))
		}
	}
	s.applied = types
	return s.finalizable.ApplyOperatorStatus(ctx, manager, all)
}

// stored is an informer with nothing in its cache.
type stored struct {
	cache.SharedIndexInformer
	store cache.Store
}

func (s stored) GetStore() cache.Store { return s.store }

// writing is a conditionWriter before a server.
type writing struct {
	t      *testing.T
	server *server
	writer *conditionWriter
	clock  *clocktesting.FakePassiveClock
	seen   string
}

func newWriting(t *testing.T, cr *conditiontest.Operator) *writing {
	t.Helper()
	w := &writing{t: t, server: &server{finalizable: finalizable{cr}}, clock: clocktesting.NewFakePassiveClock(time.Now())}
	board := condition.NewBoard(condition.Declared, libraryConditions(driver.RBD))
	client := newMaybeWithout(w.server, driver.RBD, nil, board)
	client.seen = func() string { return w.seen }
	client.informer = stored{client.informer, cache.NewStore(cache.MetaNamespaceKeyFunc)}
	w.writer = &conditionWriter{driver: driver.RBD, board: board, client: client, clock: w.clock}
	return w
}

func (w *writing) say(said ...*condition.Said) error {
	w.t.Helper()
	if err := condition.Say(w.t.Context(), w.writer.client, "test", nil, said...); err != nil {
		w.t.Fatal(err)
	}
	return w.writer.sync(w.t.Context(), factory.NewSyncContext("test", events.NewInMemoryRecorder("test", w.clock)))
}

func TestConditionsWithoutResource(t *testing.T) {
	w := newWriting(t, conditiontest.Missing())
	if err := w.say(condition.Good(condition.ConnectionDegraded)); err != nil {
		t.Errorf("there is nowhere to write to; an error would be retried and logged for ever: %v", err)
	}
}

// TestConditionsTogether: a start has news of thirty controllers within a second.
func TestConditionsTogether(t *testing.T) {
	const available = "CephRBDDriverNodeServiceControllerAvailable"
	w := newWriting(t, conditiontest.New(operatorv1.Managed))
	bad := condition.New(condition.ConnectionDegraded, operatorv1.ConditionTrue, "Broken", "m")
	for i, step := range []struct {
		reason string
		after  time.Duration
		said   *condition.Said
		writes int
	}{
		{"the first news after a start", 0, condition.Good(condition.ConnectionDegraded), 1},
		{"good news waits for more of it", 0, condition.Good(condition.ManagementStateDegraded), 1},
		{"and comes with it", conditionPause, condition.Good(condition.ManagementStateDegraded), 2},
		{"people wait for the driver", 0, condition.New(available, operatorv1.ConditionTrue, condition.AsExpected, ""), 3},
		{"something breaks", 0, bad, 4},
		{"it is mended", 0, condition.Good(condition.ConnectionDegraded), 4},
		{"and broken again before that was written", conditionPause, bad, 4},
	} {
		w.clock.SetTime(w.clock.Now().Add(step.after))
		if err := w.say(step.said); err != nil {
			t.Fatal(err)
		}
		if got := w.server.Writes(); got != step.writes {
			t.Errorf("step %d, %s: %d writes, want %d", i, step.reason, got, step.writes)
		}
	}
}

// TestWritesOnceUntilItIsSeen: library-go compares with a cache that may show no write yet, and would write
// each time.
func TestWritesOnceUntilItIsSeen(t *testing.T) {
	w := newWriting(t, conditiontest.New(operatorv1.Managed))
	bad := condition.New(condition.ConnectionDegraded, operatorv1.ConditionTrue, "Broken", "m")
	refused := errors.New("refused")
	for _, step := range []struct {
		reason string
		seen   string
		said   *condition.Said
		fail   error
		writes int
	}{
		{"it is new", "1", condition.Good(condition.ConnectionDegraded), nil, 1},
		{"the cache does not show it yet", "1", condition.Good(condition.ConnectionDegraded), nil, 1},
		{"it has changed", "1", bad, refused, 2},
		{"it was refused", "1", bad, nil, 3},
		{"it was not the second time", "1", bad, nil, 3},
		{"library-go can compare again", "2", bad, nil, 4},
	} {
		w.clock.SetTime(w.clock.Now().Add(conditionPause))
		w.seen, w.server.fail = step.seen, step.fail
		if err := w.say(step.said); !errors.Is(err, step.fail) {
			t.Errorf("%s: %v", step.reason, err)
		}
		if w.server.writes != step.writes {
			t.Errorf("%s: %d writes, want %d", step.reason, w.server.writes, step.writes)
		}
	}
}

// TestConditionsOfBefore: what stood last stands until it is known anew, and what nobody says any more goes.
func TestConditionsOfBefore(t *testing.T) {
	held := func(kind string) operatorv1.OperatorCondition {
		return operatorv1.OperatorCondition{Type: kind, Status: operatorv1.ConditionTrue, Reason: "Before"}
	}
	cr := conditiontest.New(operatorv1.Managed).With(
		held("CephPoolsDegraded"), held("CephRBDOldControllerDegraded"), held(condition.Disabled), held(condition.VolumesSafe),
		held("StorageClassControllerDegraded"), held("SomebodyElse"))
	w := newWriting(t, cr)
	if err := w.say(condition.Good(condition.ConnectionDegraded), condition.Absent(condition.Disabled)); err != nil {
		t.Fatal(err)
	}
	want := []string{condition.ConnectionDegraded, "SomebodyElse", "StorageClassControllerDegraded", condition.VolumesSafe}
	if diff := cmp.Diff(want, cr.Types()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c := cr.Condition(condition.VolumesSafe); c.Reason != "Before" {
		t.Errorf("nobody knows of volumes yet: %+v", c)
	}
}

func TestStale(t *testing.T) {
	said := []string{"CephConnectionDegraded", "CephRBDDriverNodeServiceControllerAvailable"}
	tests := map[string]struct {
		reason string
		held   []string
		want   []int
	}{
		"AllSaid":       {"nothing to do", said, nil},
		"Renamed":       {"an earlier version's condition would make ClusterOperator storage Degraded for ever", []string{"CephRBDOldControllerDegraded", said[0]}, []int{0}},
		"NewerVersion":  {"a later version's as well, after a downgrade", []string{said[0], "CephTagsDegraded", "CephRBDTagsProgressing"}, []int{1, 2}},
		"Informational": {"no aggregation counts it, so it may be from anywhere", []string{"CephSomethingUsable"}, nil},
		"ForPeople":     {"an earlier version of ours wrote it, and nobody takes it back", []string{"OldUsable"}, []int{0}},
		"Declared":      {"whoever wrote it: there is nothing to say of it now", []string{condition.Disabled, said[0]}, []int{0}},
		"SomebodyElse":  {"other components' conditions have other names", []string{"CloudDegraded"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var held []operatorv1.OperatorCondition
			for _, conditionType := range tc.held {
				held = append(held, operatorv1.OperatorCondition{Type: conditionType})
			}
			if diff := cmp.Diff(tc.want, stale(held, "CephRBD", said, func(kind string) bool { return strings.HasPrefix(kind, "Old") })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFormerlyOurs reads owners as the API server writes them.
func TestFormerlyOurs(t *testing.T) {
	w := newWriting(t, conditiontest.New(operatorv1.Managed))
	entry := func(manager, kind string) any {
		return map[string]any{"manager": manager, "fieldsV1": map[string]any{"f:status": map[string]any{"f:conditions": map[string]any{`k:{"type":"` + kind + `"}`: map[string]any{}}}}}
	}
	cr := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": driver.RBD.Name, "managedFields": []any{
		entry("ceph-rbd-csi-driver-operator-CephPoolsInUse", "PoolsProtected"), entry("somebody", "Theirs"),
		entry("CephRBDConnectionController", "CephSourcesUsed"), entry("CephFSConnectionController", "Elsewhere"),
	}}}}
	ours := formerlyOurs(cr, w.writer.driver)
	for kind, want := range map[string]bool{"PoolsProtected": true, "CephSourcesUsed": true, "Theirs": false, "Elsewhere": false, "Nobodys": false} {
		if ours(kind) != want {
			t.Errorf("%s is ours: %v, want %v", kind, !want, want)
		}
	}
}
