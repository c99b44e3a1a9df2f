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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
	text    = `{"mapOptions":"nbd:it's","mounter":"rbd-nbd"}`
	asYAML  = "mounter: rbd-nbd\nmapOptions: nbd:it's\n"
	lost    = "spec.driverConfig.ceph is missing although spec.driverConfig.driverType is Ceph"
	again   = "oc patch crd clustercsidrivers.operator.openshift.io --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json; oc patch clustercsidriver rbd.csi.ceph.com --type=merge -p "
	there   = "oc annotate clustercsidriver rbd.csi.ceph.com --overwrite storage.openshift.io/ceph-settings="
)

// apiServer has the ClusterCSIDriver, and who has written its annotation.
type apiServer struct {
	cr     *unstructured.Unstructured
	writes int
}

// annotate is a person's edit.
func (a *apiServer) annotate(text string) {
	a.cr.SetAnnotations(map[string]string{driver.SettingsAnnotation: text})
	a.cr.SetManagedFields(nil)
}

func (a *apiServer) apply(_ context.Context, applied *unstructured.Unstructured, manager string) error {
	a.writes++
	annotations := applied.GetAnnotations()
	if _, there := a.cr.GetAnnotations()[driver.SettingsAnnotation]; !there && len(annotations) == 0 {
		return errors.New("an apply that changes nothing")
	}
	a.cr = a.cr.DeepCopy()
	a.cr.SetAnnotations(annotations)
	a.cr.SetManagedFields(nil)
	if len(annotations) > 0 {
		a.cr.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + driver.SettingsAnnotation + `":{}}}}`),
		}})
	}
	return nil
}

// set changes the spec, and leaves the metadata.
func (a *apiServer) set(driverConfig map[string]any) {
	a.cr = a.cr.DeepCopy()
	a.cr.Object["spec"] = resource(driverConfig).Object["spec"]
}

// TestSettings is the truth table: what is in force, what is remembered and what is said.
func TestSettings(t *testing.T) {
	tests := map[string]struct {
		reason   string
		cr       *unstructured.Unstructured
		person   string // the annotation as somebody has written it
		memory   memory
		state    operatorv1.ManagementState
		want     driver.Settings
		wantErr  error
		wantLast map[string]any
		writes   int
		copied   string // the annotation afterwards
		why      string // CephSettingsDegraded, or SettingsComplete
		says     string
	}{
		"NoResource": {reason: "nothing is set", want: driver.Settings{}},
		"Defaults":   {reason: "nothing to remember: a write would delay every start", cr: resource(nil)},
		"Valid": {
			reason: "in force and remembered", cr: resource(set(good)),
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: text,
		},
		"Same": {
			reason: "remembered already", cr: resource(set(good)), person: asYAML, memory: memory{last: &state.Settings{Ceph: good, Annotated: asYAML}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, copied: asYAML,
		},
		"SameAsBeforeAnnotations": {
			reason: "who keeps no annotation can be told from now on", cr: resource(set(good)), person: asYAML, memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: asYAML,
		},
		"SpecWins": {
			reason: "whoever can edit the spec does so", cr: resource(set(good)), person: `{"mounter":"rbd"}`, memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: text,
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
			reason: "a stock CRD was put back, and somebody has removed the annotation: it comes back", cr: resource(pruned), memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: text,
			why: condition.SettingsAnnotated, says: lost + ": the cluster's CRD does not know it. What the annotation storage.openshift.io/ceph-settings says is in force. Change it there: " +
				there + `'{"mapOptions":"nbd:it'\''s","mounter":"rbd-nbd"}'` + "; or in the spec, after both of: " + again +
				`'{"spec":{"driverConfig":{"ceph":{"mapOptions":"nbd:it'\''s","mounter":"rbd-nbd"},"driverType":"Ceph"}}}'`,
		},
		"Annotated": {
			reason: "edited where the CRD lets one", cr: resource(pruned), person: asYAML, memory: memory{last: &state.Settings{Ceph: map[string]any{"mounter": "rbd"}}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: asYAML,
			why: condition.SettingsAnnotated, says: "Change it there: " + there + `'{"mapOptions":"nbd:it'\''s","mounter":"rbd-nbd"}'`,
		},
		"KeptWithoutAnnotation": {
			reason: "a former version was there in between, which keeps settings in the ConfigMap only", cr: resource(pruned), person: asYAML,
			memory: memory{last: &state.Settings{Ceph: map[string]any{"mounter": "rbd"}, Annotated: asYAML}},
			want:   driver.Settings{Mounter: "rbd"}, wantLast: map[string]any{"mounter": "rbd"}, writes: 1, copied: `{"mounter":"rbd"}`,
			why: condition.SettingsAnnotated, says: "Change it there: " + there + `'{"mounter":"rbd"}'`,
		},
		"KeptInvalid": {
			reason: "somebody has edited the ConfigMap", cr: resource(pruned), person: text, memory: memory{last: &state.Settings{Ceph: bad, Annotated: text}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: text,
			why: condition.SettingsAnnotated, says: "Change it there: ",
		},
		"AnnotatedSinceThen": {
			reason: "the ConfigMap is of before, or its cache", cr: resource(pruned), person: asYAML,
			memory: memory{last: &state.Settings{Ceph: map[string]any{"mounter": "rbd"}, Annotated: `{"mounter":"rbd-nbd"}`}},
			want:   driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: asYAML,
			why: condition.SettingsAnnotated, says: "Change it there: ",
		},
		"AnnotatedOnly": {
			reason: "the spec never had any", cr: resource(nil), person: text,
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, writes: 1, copied: text,
		},
		"AnnotatedWrongly": {
			reason: "the same checks", cr: resource(pruned), person: `{"mounter":"fuse"}`, memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, copied: `{"mounter":"fuse"}`, why: condition.InvalidSettings,
			says: `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: metadata.annotations[storage.openshift.io/ceph-settings].mounter is "fuse", must be one of "rbd", "rbd-nbd"; the settings that were valid last go on`,
		},
		"AnnotatedMisspelt": {
			reason: "no schema drops it", cr: resource(pruned), person: `{"mouner":"rbd"}`, memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, copied: `{"mouner":"rbd"}`, why: condition.InvalidSettings,
			says: `metadata.annotations[storage.openshift.io/ceph-settings].mouner is "rbd", must be left out: there is only cluster, controller, credentials, `,
		},
		"AnnotatedNonsense": {
			reason: "half an edit", cr: resource(pruned), person: `{"mounter"`, memory: memory{last: &state.Settings{Ceph: good}},
			want: driver.Settings{Mounter: "rbd-nbd", MapOptions: "nbd:it's"}, wantLast: good, copied: `{"mounter"`, why: condition.InvalidSettings,
			says: `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: metadata.annotations[storage.openshift.io/ceph-settings] is neither JSON nor YAML of an object`,
		},
		"AnnotatedAtFirst": {
			reason: "no default stands in for what somebody wants", cr: resource(nil), person: `nonsense`, wantErr: driver.ErrInvalidSettings, copied: `nonsense`,
			why: condition.InvalidSettings, says: "until that is corrected, nothing is changed that settings decide",
		},
		"PrunedAtFirst": {
			reason: "nobody knows what was set", cr: resource(pruned), wantErr: driver.ErrPrunedSettings,
			why: condition.SettingsLost, says: lost + ", and no copy is kept: set them with `" + there + "'{}'`, or patch the CRD and set them there: `" + again + `'{"spec":{"driverConfig":{"ceph":{},"driverType":"Ceph"}}}'`,
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
			operator, m, server := conditiontest.New(tc.state), tc.memory, &apiServer{cr: tc.cr}
			if tc.person != "" {
				server.annotate(tc.person)
			}
			c := newController(operator, &m, server)
			got, err := c.Reader.Current()
			if !reflect.DeepEqual(got, tc.want) || !errors.Is(err, tc.wantErr) {
				t.Errorf("%s: settings are %+v, %v, want %+v, %v", tc.reason, got, err, tc.want, tc.wantErr)
			}
			for range 3 { // the annotation, what is remembered, and nothing to do
				sync(t, c)
			}
			if last, _, _ := m.load(); m.err == nil && !reflect.DeepEqual(last.Ceph, tc.wantLast) {
				t.Errorf("%s: remembers %v, want %v", tc.reason, last.Ceph, tc.wantLast)
			}
			if m.writes != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, m.writes, tc.writes)
			}
			wrote := 0
			if tc.copied != tc.person {
				wrote = 1
			}
			if tc.cr != nil && server.cr.GetAnnotations()[driver.SettingsAnnotation] != tc.copied || server.writes != wrote {
				t.Errorf("%s: annotations %v after %d writes, want %s", tc.reason, server.cr.GetAnnotations(), server.writes, tc.copied)
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

func newController(operator *conditiontest.Operator, m *memory, server *apiServer) controller {
	return controller{Config{Env: ctrl.Env{Driver: driver.RBD, Operator: operator, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{})},
		Reader: Reader{
			Driver:   driver.RBD,
			Resource: func() (*unstructured.Unstructured, error) { return server.cr, nil },
			Last:     m.load,
			Synced:   func() bool { return true },
			Before:   &ctrl.Latest[InForce]{},
		},
		Live: func(context.Context) (*unstructured.Unstructured, error) { return server.cr, nil },
		Read: func(context.Context) (state.Settings, bool, error) { return m.load() },
		Save: m.save, Apply: server.apply,
	}}
}

func sync(t *testing.T, c controller) {
	t.Helper()
	if err := c.sync(t.Context(), factory.NewSyncContext(controllerName, c.Recorder)); err != nil {
		t.Fatal(err)
	}
}

// TestLifeOfSettings: the conditions go when the settings are well again, also those of an earlier
// process, and the operator's copy goes with what it is a copy of.
func TestLifeOfSettings(t *testing.T) {
	server, m, operator := &apiServer{cr: resource(nil)}, &memory{}, conditiontest.New(operatorv1.Managed)
	c := newController(operator, m, server)
	for _, step := range []struct {
		reason string
		do     func()
		want   []string
		copied string
	}{
		{"nothing is set", func() {}, nil, ""},
		{"set", func() { server.set(set(good)) }, nil, text},
		{"a stock CRD drops it", func() { server.set(pruned) }, []string{condition.SettingsComplete}, text},
		{"somebody edits the annotation", func() { server.annotate(`{"mounter":"rbd"}`) }, []string{condition.SettingsComplete}, `{"mounter":"rbd"}`},
		{"makes a mistake", func() { server.annotate(`{"mounter":"fuse"}`) }, []string{condition.SettingsDegraded}, `{"mounter":"fuse"}`},
		{"goes back to the spec", func() { server.set(set(good)) }, nil, text},
		{"and removes it", func() { server.set(nil) }, nil, ""},
	} {
		step.do()
		for range 2 { // the second one finds nothing to do
			sync(t, c)
		}
		if got := operator.Types(); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s: conditions are %v, want %v", step.reason, got, step.want)
		}
		if got := server.cr.GetAnnotations()[driver.SettingsAnnotation]; got != step.copied {
			t.Errorf("%s: the annotation is %q, want %q", step.reason, got, step.copied)
		}
	}
	if got, err := c.Reader.Current(); err != nil || !reflect.DeepEqual(got, driver.Settings{}) || m.last.Ceph != nil || server.writes != 3 {
		t.Errorf("at the end: %+v, %v, remembered %v, %d writes", got, err, m.last.Ceph, server.writes)
	}
}

// TestCacheLacksThem: a watch from before the CRD was patched drops settings that are there again. They
// reach the cache by the annotation.
func TestCacheLacksThem(t *testing.T) {
	server, m, operator := &apiServer{cr: resource(set(good))}, &memory{}, conditiontest.New(operatorv1.Managed)
	server.annotate(`{"mounter":"rbd"}`)
	c := newController(operator, m, server)
	c.Reader.Resource = func() (*unstructured.Unstructured, error) {
		cached := server.cr.DeepCopy()
		cached.Object["spec"] = resource(pruned).Object["spec"]
		return cached, nil
	}
	for range 2 {
		sync(t, c)
	}
	if got, err := c.Reader.Current(); err != nil || got.Mounter != "rbd-nbd" || len(operator.Types()) > 0 || server.writes != 1 {
		t.Errorf("settings are %+v, %v, conditions %v after %d writes", got, err, operator.Types(), server.writes)
	}
}
