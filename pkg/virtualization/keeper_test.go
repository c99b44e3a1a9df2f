package virtualization

import (
	"strings"
	"testing"

	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestCovers(t *testing.T) {
	type object = map[string]any
	type list = []any
	tests := map[string]struct {
		reason       string
		held, wanted any
		want         bool
	}{
		"Same":        {reason: "idle means idle", held: object{"a": list{"b"}}, wanted: object{"a": list{"b"}}, want: true},
		"Default":     {reason: "the API server adds defaults", held: object{"a": "b", "c": "d"}, wanted: object{"a": "b"}, want: true},
		"DeepDefault": {reason: "within lists, too", held: object{"a": list{object{"b": "c", "d": "e"}}}, wanted: object{"a": list{object{"b": "c"}}}, want: true},
		"Other":       {reason: "somebody changed it", held: object{"a": "x"}, wanted: object{"a": "b"}},
		"Missing":     {reason: "somebody removed it", held: object{}, wanted: object{"a": "b"}},
		"Shorter":     {reason: "an item is missing", held: object{"a": list{}}, wanted: object{"a": list{"b"}}},
		"Longer":      {reason: "an item of somebody else weakens a rule", held: object{"a": list{"b", "c"}}, wanted: object{"a": list{"b"}}},
		"Empty":       {reason: "an empty object is there or not", held: object{"a": object{}}, wanted: object{"a": object{}}, want: true},
		"NoObject":    {reason: "an empty object is there or not", held: object{"a": nil}, wanted: object{"a": object{}}},
		"Kind":        {reason: "a text is no object", held: object{"a": "b"}, wanted: object{"a": object{"b": "c"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := covers(tc.held, tc.wanted); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

// watching has objects of a kind.
func watching(t *testing.T, k kind, objects ...*unstructured.Unstructured) *Watches {
	t.Helper()
	informer := cache.NewSharedIndexInformer(nil, &unstructured.Unstructured{}, 0, cache.Indexers{})
	for _, object := range objects {
		if err := informer.GetStore().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return &Watches{running: map[string]*watch{k.key(): {resource: k.WithVersion("v1"), informer: informer}}}
}

func TestCompare(t *testing.T) {
	d := driver.RBD
	ours := func(name, text string) *unstructured.Unstructured {
		out := ownObject(d, "g/v1", "K", name)
		out.Object["spec"] = map[string]any{"text": text}
		return out
	}
	theirs := ours("a", "theirs")
	theirs.SetLabels(nil)
	tests := map[string]struct {
		reason  string
		held    []*unstructured.Unstructured
		wanted  []*unstructured.Unstructured
		want    string
		foreign string
	}{
		"Nothing":  {reason: "nobody asked"},
		"New":      {reason: "it was asked for", wanted: []*unstructured.Unstructured{ours("a", "x")}, want: "apply a"},
		"Same":     {reason: "idle means idle", held: []*unstructured.Unstructured{ours("a", "x")}, wanted: []*unstructured.Unstructured{ours("a", "x")}},
		"Changed":  {reason: "somebody changed it", held: []*unstructured.Unstructured{ours("a", "y")}, wanted: []*unstructured.Unstructured{ours("a", "x")}, want: "apply a"},
		"Switched": {reason: "it was switched off", held: []*unstructured.Unstructured{ours("a", "x")}, want: "remove a"},
		"One": {
			reason: "one of several is no longer needed",
			held:   []*unstructured.Unstructured{ours("a", "x"), ours("b", "x")}, wanted: []*unstructured.Unstructured{ours("b", "x")}, want: "remove a",
		},
		"Foreign":     {reason: "it is somebody else's", held: []*unstructured.Unstructured{theirs}, wanted: []*unstructured.Unstructured{ours("a", "x")}, foreign: "K a belongs to an unknown owner and is left alone"},
		"ForeignOnly": {reason: "nobody asked, and it is somebody else's", held: []*unstructured.Unstructured{theirs}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := kind{GroupResource: policies.GroupResource}
			var wanted []item
			for _, object := range tc.wanted {
				wanted = append(wanted, item{k, object}, item{kind{GroupResource: bindings.GroupResource}, object})
			}
			c := keeper{Config: Config{Env: ctrl.Env{Driver: d}, Watches: watching(t, k, tc.held...)}}
			changes, foreign := c.compare([]kind{k}, wanted)
			var got []string
			for _, change := range changes {
				if change.apply != nil {
					got = append(got, "apply "+change.apply.GetName())
				} else {
					got = append(got, "remove "+change.remove.GetName())
				}
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, text, tc.want)
			}
			if text := strings.Join(foreign, "; "); (text == "") != (tc.foreign == "") || !strings.Contains(text, tc.foreign) {
				t.Errorf("%s: told %q", tc.reason, text)
			}
		})
	}
}

// TestRemovalIsToldOnce: an object that somebody else has deleted first is no change of ours.
func TestRemovalIsToldOnce(t *testing.T) {
	k := kind{GroupResource: policies.GroupResource}
	object := ownObject(driver.RBD, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "a")
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	c := keeper{name: "Test", Config: Config{Env: ctrl.Env{Driver: driver.RBD, Recorder: recorder, Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), object)},
		Watches: watching(t, k, object),
	}}
	for range 2 {
		if err := c.act(t.Context(), change{kind: k, remove: object}); err != nil {
			t.Fatal(err)
		}
	}
	if told := recorder.Events(); len(told) != 1 {
		t.Errorf("%d events about one removal", len(told))
	}
}
