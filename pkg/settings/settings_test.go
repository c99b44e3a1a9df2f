package settings

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/latest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is the state ConfigMap; err makes it unreadable.
type memory struct {
	last   *state.Settings
	err    error
	writes int
}

func (m *memory) load() (state.Settings, bool, error) {
	if m.last == nil || m.err != nil {
		return state.Settings{}, false, m.err
	}
	return *m.last, true, nil
}

func (m *memory) save(_ context.Context, s state.Settings) error {
	if m.err != nil {
		return m.err
	}
	if m.last == nil || !reflect.DeepEqual(*m.last, s) {
		m.writes++
	}
	m.last = &s
	return nil
}

// resource is a ClusterCSIDriver with that spec.driverConfig.
func resource(driverConfig map[string]any) *unstructured.Unstructured {
	spec := map[string]any{}
	if driverConfig != nil {
		spec["driverConfig"] = driverConfig
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": driver.RBD.Name}, "spec": spec}}
}

func set(member map[string]any) map[string]any {
	return map[string]any{"driverType": "Ceph", "ceph": member}
}

var (
	pruned  = map[string]any{"driverType": "Ceph"}
	good    = map[string]any{"mounter": "rbd-nbd", "mapOptions": "nbd:it's"}
	bad     = map[string]any{"mounter": "fuse"}
	invalid = `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: spec.driverConfig.ceph.mounter is "fuse", must be one of "rbd", "rbd-nbd"`
	lost    = "spec.driverConfig.ceph is missing although spec.driverConfig.driverType is Ceph"
	again   = "to set them again: oc patch crd clustercsidrivers.operator.openshift.io --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json; oc patch clustercsidriver rbd.csi.ceph.com --type=merge -p "
)

// TestSettings is the truth table: what is in force, what is remembered and what is said.
func TestSettings(t *testing.T) {
	tests := map[string]struct {
		reason   string
		cr       *unstructured.Unstructured
		memory   memory
		state    operatorv1.ManagementState
		want     driver.Settings
		wantErr  error
		wantLast map[string]any
		writes   int
		why      string // CephSettingsDegraded, or SettingsComplete
		says     string
	}{
		"NoResource": {reason: "nothing is set", want: driver.Settings{}},
		"Defaults":   {reason: "nothing to remember: a write would delay every start", cr: resource(nil)},
		"Valid": {
			reason: "in force and remembered", cr: resource(set(good)),
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1,
		},
		"Same": {
			reason: "remembered already", cr: resource(set(good)), memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good,
		},
		"Unmanaged": {
			reason: "nothing is written but conditions", cr: resource(set(good)), state: operatorv1.Unmanaged,
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"},
		},
		"BackToDefaults": {
			reason: "somebody removed the whole driverConfig", cr: resource(nil), memory: memory{last: &state.Settings{Ceph: good}}, writes: 1,
		},
		"Invalid": {
			reason: "the last valid ones go on", cr: resource(set(bad)), memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good,
			why: condition.InvalidSettings, says: invalid + "; the settings that were valid last go on",
		},
		"InvalidAtFirst": {
			reason: "defaults might create a pool that nobody wants", cr: resource(set(bad)), wantErr: driver.ErrInvalidSettings,
			why: condition.InvalidSettings, says: invalid + "; until that is corrected, nothing is changed that settings decide",
		},
		"Pruned": {
			reason: "a stock CRD was put back", cr: resource(pruned), memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good,
			why: condition.SettingsLost, says: lost + ": a CRD that does not know them was put back. The settings that were valid last go on; " + again +
				`'{"spec":{"driverConfig":{"ceph":{"mapOptions":"nbd:it'\''s","mounter":"rbd-nbd"},"driverType":"Ceph"}}}'`,
		},
		"PrunedAtFirst": {
			reason: "nobody knows what was set", cr: resource(pruned), wantErr: driver.ErrPrunedSettings,
			why: condition.SettingsLost, says: lost + ", and no copy is kept: " + again + `'{"spec":{"driverConfig":{"ceph":{},"driverType":"Ceph"}}}'`,
		},
		"RememberedByANewerOne": {
			reason: "what an operator of tomorrow allowed is no help today", cr: resource(pruned),
			memory: memory{last: &state.Settings{Ceph: map[string]any{"mounter": "quantum"}}}, wantErr: driver.ErrPrunedSettings,
			wantLast: map[string]any{"mounter": "quantum"}, why: condition.SyncError, says: lost + "; what ConfigMap ceph-rbd-csi-driver-state remembers is of no help: invalid settings",
		},
		"Unreadable": {
			reason: "somebody edited the ConfigMap", cr: resource(set(good)), memory: memory{err: errors.New("key is not readable")},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, why: condition.SyncError, says: "key is not readable",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.state == "" {
				tc.state = operatorv1.Managed
			}
			operator, m := conditiontest.New(tc.state), tc.memory
			c := newController(operator, &m, func() *unstructured.Unstructured { return tc.cr })
			got, err := c.Current()
			if !reflect.DeepEqual(got, tc.want) || !errors.Is(err, tc.wantErr) {
				t.Errorf("%s: settings are %+v, %v, want %+v, %v", tc.reason, got, err, tc.want, tc.wantErr)
			}
			for range 2 { // the second one finds nothing to do
				sync(t, c)
			}
			if last, _, _ := m.load(); m.err == nil && !reflect.DeepEqual(last.Ceph, tc.wantLast) {
				t.Errorf("%s: remembers %v, want %v", tc.reason, last.Ceph, tc.wantLast)
			}
			if m.writes != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, m.writes, tc.writes)
			}
			wantCondition(t, operator, tc.why, tc.says)
		})
	}
}

func wantCondition(t *testing.T, operator *conditiontest.Operator, why, says string) {
	t.Helper()
	types := operator.Types()
	if why == "" {
		if len(types) > 0 || operator.Writes() > 0 {
			t.Errorf("conditions %v after %d writes, want none", types, operator.Writes())
		}
		return
	}
	if len(types) != 1 || operator.Writes() != 1 {
		t.Fatalf("conditions %v after %d writes, want one", types, operator.Writes())
	}
	got := operator.Condition(types[0])
	if got.Reason != why || !strings.Contains(got.Message, says) {
		t.Errorf("%s is %s: %s\nwant %s: %s", got.Type, got.Reason, got.Message, why, says)
	}
}

func newController(operator *conditiontest.Operator, m *memory, cr func() *unstructured.Unstructured) controller {
	return controller{Config{
		Reader: Reader{
			Driver:   driver.RBD,
			Resource: func() (*unstructured.Unstructured, error) { return cr(), nil },
			Seen:     &latest.Value[driver.Settings]{},
			Last:     m.load,
			Synced:   func() bool { return true },
		},
		Live:     func(context.Context) (*unstructured.Unstructured, error) { return cr(), nil },
		Operator: operator, Save: m.save, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}}
}

func sync(t *testing.T, c controller) {
	t.Helper()
	if err := c.sync(t.Context(), factory.NewSyncContext(controllerName, c.Recorder)); err != nil {
		t.Fatal(err)
	}
}

// The conditions go when the settings are well again, also those of an earlier process.
func TestConditionsGo(t *testing.T) {
	cr := resource(pruned)
	m := &memory{last: &state.Settings{Ceph: good}}
	operator := conditiontest.New(operatorv1.Managed)
	c := newController(operator, m, func() *unstructured.Unstructured { return cr })
	for _, step := range []struct {
		config map[string]any
		want   []string
	}{
		{pruned, []string{condition.SettingsComplete}},
		{set(bad), []string{condition.SettingsDegraded}},
		{set(good), nil},
	} {
		cr = resource(step.config)
		sync(t, c)
		if got := operator.Types(); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%v: conditions are %v, want %v", step.config, got, step.want)
		}
	}
}

// A cache may lack settings that are there again: they are in force at once, and a write makes
// the API server send them once more.
func TestCacheLacksThem(t *testing.T) {
	cached := resource(pruned)
	m, operator := &memory{}, conditiontest.New(operatorv1.Managed)
	c := newController(operator, m, func() *unstructured.Unstructured { return cached })
	c.Live = func(context.Context) (*unstructured.Unstructured, error) { return resource(set(good)), nil }
	sync(t, c)
	if got, err := c.Current(); err != nil || got.Mounter != "rbd-nbd" || operator.Writes() != 1 {
		t.Errorf("settings are %+v, %v after %d writes", got, err, operator.Writes())
	}
	cached = resource(set(good))
	sync(t, c)
	if got, err := c.Current(); err != nil || got.Mounter != "rbd-nbd" || len(operator.Types()) > 0 {
		t.Errorf("settings are %+v, %v, conditions %v", got, err, operator.Types())
	}
}

// A start must not take what it has not read for what is not there.
func TestNothingReadYet(t *testing.T) {
	c := newController(conditiontest.New(operatorv1.Managed), &memory{}, func() *unstructured.Unstructured { return resource(pruned) })
	c.Synced = func() bool { return false }
	if _, err := c.Current(); !errors.Is(err, errNotRead) {
		t.Errorf("got %v, want %v", err, errNotRead)
	}
}
