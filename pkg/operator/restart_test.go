package operator

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestConditionsAfterOutage: the queue's waits double up to a quarter of an hour, and nothing need change when the API
// server is back.
func TestConditionsAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, conditiontest.New(operatorv1.Managed))
		w.server.fail = errors.New("connection refused")
		w.writer.board.Set(applyoperatorv1.OperatorStatus().WithConditions(condition.Good(condition.ConnectionDegraded)))
		syncCtx := factory.NewSyncContext("test", events.NewInMemoryRecorder("test", w.clock))
		defer syncCtx.Queue().ShutDown()
		if err := w.writer.sync(t.Context(), syncCtx); !errors.Is(err, w.server.fail) {
			t.Fatalf("got %v", err)
		}
		<-time.After(time.Minute)
		if syncCtx.Queue().Len() != 1 {
			t.Error("a condition that could not be written is not tried again soon")
		}
	})
}

// TestTwoWriters: while a process that has lost its lease runs on, each finds the other's conditions.
func TestTwoWriters(t *testing.T) {
	w := newWriting(t, conditiontest.New(operatorv1.Managed))
	for _, step := range []struct {
		reason, seen string
		after        time.Duration
		writes       int
	}{
		{"it is new", "1", 0, 1},
		{"the other one has written", "2", conditionPause, 2},
		{"and again, which may wait", "3", 0, 2},
		{"but not for ever", "3", conditionPause, 3},
	} {
		w.clock.SetTime(w.clock.Now().Add(step.after))
		w.seen = step.seen
		if err := w.say(condition.Good(condition.ConnectionDegraded)); err != nil {
			t.Fatal(err)
		}
		if w.server.writes != step.writes {
			t.Errorf("%s: %d writes, want %d", step.reason, w.server.writes, step.writes)
		}
	}
}

// generated has a status with the generation of a Deployment.
type generated struct {
	finalizable
	status operatorv1.OperatorStatus
}

func (g generated) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	spec, _, version, err := g.finalizable.GetOperatorState()
	return spec, g.status.DeepCopy(), version, err
}

// TestGenerations: library-go writes a workload whose generation it does not find in the status, with an event.
func TestGenerations(t *testing.T) {
	stood := func(name string, last int64) operatorv1.GenerationStatus {
		return operatorv1.GenerationStatus{Group: "apps", Resource: "deployments", Namespace: "ns", Name: name, LastGeneration: last}
	}
	inner := generated{finalizable{conditiontest.New(operatorv1.Managed)}, operatorv1.OperatorStatus{Generations: []operatorv1.GenerationStatus{stood("a", 3), stood("b", 4)}}}
	board := condition.NewBoard(nil, nil)
	client := newMaybeWithout(inner, driver.RBD, nil, board)
	client.seen = func() string { return "1" }
	said := applyoperatorv1.GenerationStatus().WithGroup("apps").WithResource("deployments").WithNamespace("ns").WithName("b").WithLastGeneration(5)
	if err := client.ApplyOperatorStatus(t.Context(), "", applyoperatorv1.OperatorStatus().WithGenerations(said)); err != nil {
		t.Fatal(err)
	}
	_, status, _, err := client.GetOperatorState()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]operatorv1.GenerationStatus{stood("a", 3), stood("b", 5)}, status.Generations); diff != "" {
		t.Errorf("before it is written, too (-want +got):\n%s", diff)
	}
	written := board.Sum(status).Generations
	if len(written) != 2 || *written[0].Name != "a" || *written[0].LastGeneration != 3 || *written[1].LastGeneration != 5 {
		t.Errorf("after a restart, what stood stands: %+v", written)
	}
}
