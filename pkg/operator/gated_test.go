package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

// observing is a ClusterCSIDriver with an observedConfig.
type observing struct {
	*conditiontest.Operator
	observed string
}

func (o observing) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	spec, status, version, err := o.Operator.GetOperatorState()
	if err != nil {
		return nil, nil, "", err
	}
	spec = spec.DeepCopy()
	spec.ObservedConfig = runtime.RawExtension{Raw: []byte(o.observed)}
	return spec, status, version, nil
}

const tlsObserved = `{"targetcsiconfig":{"servingInfo":{"cipherSuites":["TLS_AES_128_GCM_SHA256"],"minTLSVersion":"VersionTLS12"}}}`

func TestWorkload(t *testing.T) {
	tests := map[string]struct {
		reason   string
		state    operatorv1.ManagementState
		exists   bool
		missing  []string
		observed string
		applied  bool
		waiting  string
	}{
		"Ready":            {"everything that pods need is there", operatorv1.Managed, false, nil, tlsObserved, true, ""},
		"NoSecret":         {"pods would hang on the mount", operatorv1.Managed, false, []string{"Secret a", "Secret b"}, tlsObserved, false, "Waiting for Secret a, Secret b"},
		"NotObserved":      {"library-go would apply its placeholders", operatorv1.Managed, false, nil, ``, false, "observed TLS profile"},
		"OnlyProxy":        {"an observedConfig without a TLS profile is none", operatorv1.Managed, false, nil, `{"targetcsiconfig":{"proxy":{}}}`, false, "observed TLS profile"},
		"ExistsAlready":    {"what runs is looked after whatever is missing", operatorv1.Managed, true, []string{"Secret a"}, tlsObserved, true, ""},
		"ExistsUnobserved": {"a ClusterCSIDriver that was created anew says nothing of TLS for a moment", operatorv1.Managed, true, nil, ``, false, ""},
		"Unmanaged":        {"nothing is created, and nothing is waited for", operatorv1.Unmanaged, false, []string{"Secret a"}, tlsObserved, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cr := conditiontest.New(tc.state)
			applied := false
			now := clocktesting.NewFakePassiveClock(time.Now())
			w := workload{
				name:     "CephRBDDriverNodeServiceController",
				inner:    func(context.Context, factory.SyncContext) error { applied = true; return nil },
				manager:  "test",
				exists:   func() (bool, error) { return tc.exists, nil },
				missing:  func() ([]string, error) { return tc.missing, nil },
				operator: observing{cr, tc.observed},
				clock:    now,
			}
			for _, pass := range []time.Duration{0, waitQuietly / 2, waitQuietly / 2, waitAgain} {
				now.SetTime(now.Now().Add(pass))
				if w.waiting.After(now.Now().Add(-waitQuietly)) && cr.Writes() > 0 {
					t.Errorf("%s: a wait of less than %s was reported", tc.reason, waitQuietly)
				}
				if err := w.sync(t.Context(), factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{}))); err != nil {
					t.Fatal(err)
				}
			}
			if applied != tc.applied {
				t.Errorf("%s: applied is %t, want %t", tc.reason, applied, tc.applied)
			}
			wantWrites := 0
			if tc.waiting != "" {
				wantWrites = 1
				checkWaiting(t, cr, w.name, tc.waiting)
			}
			if got := cr.Writes(); got != wantWrites {
				t.Errorf("%s: %d writes, want %d", tc.reason, got, wantWrites)
			}
		})
	}
}

func checkWaiting(t *testing.T, cr *conditiontest.Operator, name, message string) {
	t.Helper()
	for suffix, status := range map[string]operatorv1.ConditionStatus{"Available": operatorv1.ConditionFalse, "Progressing": operatorv1.ConditionTrue} {
		got := cr.Condition(name + suffix)
		if got == nil || got.Status != status || got.Reason != condition.WaitingForObjects || !strings.Contains(got.Message, message) {
			t.Errorf("condition %s is %+v, want %s with message %q", name+suffix, got, status, message)
		}
	}
}

func TestWrapped(t *testing.T) {
	errBoom := errors.New("boom")
	tests := map[string]struct {
		reason   string
		operator v1helpers.OperatorClient
		open     bool
		want     error
	}{
		"Open":   {"the inner sync runs, its error comes out", conditiontest.New(operatorv1.Managed), true, errBoom},
		"Closed": {"a closed gate keeps everything from being deployed", conditiontest.New(operatorv1.Managed), false, nil},
		"NoCR":   {"without a ClusterCSIDriver there is nothing to do and nothing to complain of", conditiontest.Missing(), true, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := wrapped{
				name:     "Inner",
				inner:    func(context.Context, factory.SyncContext) error { return errBoom },
				open:     func() bool { return tc.open },
				operator: tc.operator,
				recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
				resync:   staticResync,
			}
			if got := c.sync(t.Context(), factory.NewSyncContext("test", c.recorder)); !errors.Is(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestConflictIsTriedAgainAndNothingToComplainOf(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "a", errors.New("modified"))
	c := wrapped{
		name:     "Inner",
		inner:    func(context.Context, factory.SyncContext) error { return fmt.Errorf("applying: %w", conflict) },
		operator: conditiontest.New(operatorv1.Managed),
	}
	syncCtx := factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{}))
	if err := c.sync(t.Context(), syncCtx); err != nil {
		t.Fatalf("another writer's update must not show up as Degraded: %v", err)
	}
	if key, _ := syncCtx.Queue().Get(); key != factory.DefaultQueueKey {
		t.Errorf("queued %v", key)
	}
}

// TestConflictThatLasts is tried again, but not without a pause: a webhook may answer so for ever.
func TestConflictThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := wrapped{
			inner: func(context.Context, factory.SyncContext) error {
				return apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "a", errors.New("refused"))
			},
			operator: conditiontest.New(operatorv1.Managed),
		}
		if syncs := conditiontest.SyncsInAMinute(t, c.sync); syncs > 60 {
			t.Errorf("%d syncs a minute", syncs)
		}
	})
}
