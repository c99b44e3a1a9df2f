package operator

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// finalizable completes the fake to the interface of the real client.
type finalizable struct{ *conditiontest.Operator }

func (finalizable) EnsureFinalizer(context.Context, string) error { return nil }
func (finalizable) RemoveFinalizer(context.Context, string) error { return nil }

func TestConditionsWithoutResource(t *testing.T) {
	tests := map[string]struct {
		reason   string
		operator *conditiontest.Operator
		writes   int
	}{
		"Missing": {"library-go reports after each sync; an error would be retried and logged for ever", conditiontest.Missing(), 0},
		"There":   {"conditions are written", conditiontest.New(operatorv1.Managed), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := newMaybeWithout(finalizable{tc.operator}, driver.RBD, nil)
			client.seen = func() string { return "" }
			good := applyoperatorv1.OperatorStatus().WithConditions(condition.Good("XDegraded"))
			if err := client.ApplyOperatorStatus(t.Context(), "manager", good); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if got := tc.operator.Writes(); got != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, got, tc.writes)
			}
		})
	}
}

// crowded counts the writes that ran beside another one.
type crowded struct {
	finalizable
	running, beside atomic.Int32
}

func (c *crowded) ApplyOperatorStatus(context.Context, string, *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	if c.running.Add(1) > 1 {
		c.beside.Add(1)
	}
	for range 1000 {
		runtime.Gosched()
	}
	c.running.Add(-1)
	return nil
}

func TestConditionsOneAfterTheOther(t *testing.T) {
	inner := &crowded{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	client := newMaybeWithout(inner, driver.RBD, nil)
	client.seen = func() string { return "" }
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := client.ApplyOperatorStatus(t.Context(), "manager", applyoperatorv1.OperatorStatus()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := inner.beside.Load(); n > 0 {
		t.Errorf("%d of 20 writes ran beside another one; the API server would repeat them", n)
	}
}

// lagging is library-go's client with a cache that shows no write yet: it writes each time.
type lagging struct {
	finalizable
	writes int
	err    error
}

func (s *lagging) ApplyOperatorStatus(context.Context, string, *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	s.writes++
	return s.err
}

func TestWritesOnceUntilItIsSeen(t *testing.T) {
	inner := &lagging{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	client := newMaybeWithout(inner, driver.RBD, nil)
	seen := "1"
	client.seen = func() string { return seen }
	good := applyoperatorv1.OperatorStatus().WithConditions(condition.Good("XDegraded"))
	bad := applyoperatorv1.OperatorStatus().WithConditions(condition.New("XDegraded", operatorv1.ConditionTrue, "Broken", "m"))
	refused := errors.New("refused")
	for _, step := range []struct {
		reason  string
		seen    string
		manager string
		status  *applyoperatorv1.OperatorStatusApplyConfiguration
		err     error
		writes  int
	}{
		{"it is new", "1", "a", good, nil, 1},
		{"the cache does not show it yet", "1", "a", good, nil, 1},
		{"somebody else's is new", "1", "b", good, nil, 2},
		{"it has changed", "1", "a", bad, refused, 3},
		{"it was refused", "1", "a", bad, nil, 4},
		{"it was not the second time", "1", "a", bad, nil, 4},
		{"it has changed back", "1", "a", good, nil, 5},
		{"library-go can compare again", "2", "a", good, nil, 6},
		{"nothing is known without a ClusterCSIDriver", "", "a", good, nil, 7},
		{"nor the next time", "", "a", good, nil, 8},
	} {
		seen, inner.err = step.seen, step.err
		if err := client.ApplyOperatorStatus(t.Context(), step.manager, step.status); !errors.Is(err, step.err) {
			t.Errorf("%s: %v", step.reason, err)
		}
		if inner.writes != step.writes {
			t.Errorf("%s: %d writes, want %d", step.reason, inner.writes, step.writes)
		}
	}
}

// TestObservedConfigAlone: what was read before may be older than what a person has set since, of which
// the typed spec knows only a part.
func TestObservedConfigAlone(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.openshift.io/v1", "kind": "ClusterCSIDriver",
		"metadata": map[string]any{"name": driver.RBD.Name, "annotations": map[string]any{"example.com/mine": "1"}},
		"spec": map[string]any{
			"logLevel": "Debug", "driverConfig": map[string]any{"driverType": "Ceph", "ceph": map[string]any{"pool": "mine"}},
			"observedConfig": map[string]any{"before": true},
		},
	}}
	resource := dynamicfake.NewSimpleDynamicClient(k8sruntime.NewScheme(), live.DeepCopy()).Resource(clusterCSIDrivers)
	client := newMaybeWithout(finalizable{conditiontest.New(operatorv1.Managed)}, driver.RBD, resource)
	older := &operatorv1.OperatorSpec{LogLevel: operatorv1.Normal}
	older.ObservedConfig.Object = &unstructured.Unstructured{Object: map[string]any{"after": true}}
	spec, _, err := client.UpdateOperatorSpec(t.Context(), "1", older)
	if err != nil || spec.LogLevel != operatorv1.Debug || string(spec.ObservedConfig.Raw) != `{"after":true}` {
		t.Errorf("returned %+v, %v", spec, err)
	}
	got, err := resource.Get(t.Context(), driver.RBD.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live.Object["spec"].(map[string]any)["observedConfig"] = map[string]any{"after": true}
	if diff := cmp.Diff(live.Object, got.Object); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// slow makes writes that have begun wait, and tells their order.
type slow struct {
	finalizable
	begun chan string
	goOn  chan struct{}
}

func (s *slow) ApplyOperatorStatus(_ context.Context, manager string, _ *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	s.begun <- manager
	<-s.goOn
	return nil
}

// TestDeploysFirst: the Deployment is created by a controller that has its condition behind it.
func TestDeploysFirst(t *testing.T) {
	inner := &slow{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}, begun: make(chan string), goOn: make(chan struct{})}
	client := newMaybeWithout(inner, driver.RBD, nil)
	client.seen = func() string { return "" }
	var all sync.WaitGroup
	write := func(manager, conditionType string) {
		all.Go(func() {
			if err := client.ApplyOperatorStatus(t.Context(), manager, applyoperatorv1.OperatorStatus().WithConditions(condition.Good(conditionType))); err != nil {
				t.Error(err)
			}
		})
	}
	const others = 10
	for range others {
		write("other", condition.PoolsDegraded)
	}
	order := []string{<-inner.begun}
	write("deploying", "CephRBDDriverNodeServiceControllerDegraded")
	for waiting := 0; waiting == 0; {
		client.writing.mu.Lock()
		waiting = client.writing.urgent
		client.writing.mu.Unlock()
		runtime.Gosched()
	}
	for range others {
		inner.goOn <- struct{}{}
		order = append(order, <-inner.begun)
	}
	inner.goOn <- struct{}{}
	all.Wait()
	if at := slices.Index(order, "deploying"); at != 1 {
		t.Errorf("it was written as number %d of %q", at, order)
	}
}
