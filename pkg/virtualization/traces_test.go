package virtualization

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func settingOf(value, defaults, applied string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{valueField: value, defaultField: defaults}}
	out.SetAPIVersion(settingVersion.GroupVersion().String())
	out.SetKind("Setting")
	out.SetName(expansion.name)
	annotations := map[string]string{"other": "stays"}
	if applied != "" {
		annotations[appliedPrefix+driver.RBD.Name] = applied
	}
	out.SetAnnotations(annotations)
	return out
}

func TestUnentered(t *testing.T) {
	const defaults = `{"driver.longhorn.io":true}`
	tests := map[string]struct {
		reason         string
		value, applied string
		// want is the value that stays; the memory is always forgotten.
		want      string
		untouched bool
	}{
		"Last":     {reason: "others stay to the byte", value: `{ "x" : 1e3 ,"rbd.csi.ceph.com":true }`, applied: "true", want: `{ "x" : 1e3 }`},
		"First":    {reason: "others stay to the byte", value: `{"rbd.csi.ceph.com": true, "x":1}`, applied: "true", want: `{ "x":1}`},
		"Between":  {reason: "others stay to the byte", value: `{"a":1, "rbd.csi.ceph.com":true, "b":2}`, applied: "true", want: `{"a":1, "b":2}`},
		"Only":     {reason: "an empty object stays", value: `{"rbd.csi.ceph.com":true}`, applied: "true", want: `{}`},
		"Default":  {reason: "what was empty is empty again", value: `{"driver.longhorn.io":true,"rbd.csi.ceph.com":true}`, applied: "true", want: ""},
		"Override": {reason: "it was chosen", value: `{"rbd.csi.ceph.com":false}`, applied: "true", want: `{"rbd.csi.ceph.com":false}`},
		"Removed":  {reason: "it was removed", value: `{"a":1}`, applied: "true", want: `{"a":1}`},
		"Broken":   {reason: "it is never overwritten", value: `{"rbd.csi.ceph.com":true`, applied: "true", want: `{"rbd.csi.ceph.com":true`},
		"ByHand":   {reason: "we never wrote it", value: `{"rbd.csi.ceph.com":true}`, untouched: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := unentered(settingOf(tc.value, defaults, tc.applied), driver.RBD)
			if tc.untouched || got == nil {
				if got != nil || !tc.untouched {
					t.Errorf("%s: got %v", tc.reason, got)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got.Object[valueField]); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(map[string]string{"other": "stays"}, got.GetAnnotations()); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTracesOfSettings(t *testing.T) {
	lists := map[schema.GroupVersionResource]string{storageProfileVersion: "StorageProfileList", storageClassVersion: "StorageClassList"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists,
		settingOf(`{"a":1,"rbd.csi.ceph.com":true}`, "", "true"))
	busy := 2
	client.PrependReactor("update", "settings", func(clienttesting.Action) (bool, runtime.Object, error) {
		busy--
		return busy >= 0, nil, apierrors.NewConflict(settingVersion.GroupResource(), expansion.name, nil)
	})
	traces, err := Traces(t.Context(), client, driver.RBD)
	if err != nil || len(traces) != 1 {
		t.Fatalf("got %v, %v", traces, err)
	}
	for _, again := range []bool{false, true} {
		if err := traces[0].Remove(t.Context()); err != nil {
			t.Fatalf("again %t: %v", again, err)
		}
	}
	after, err := client.Resource(settingVersion).Get(t.Context(), expansion.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Object[valueField]; got != `{"a":1}` {
		t.Errorf("left %v", got)
	}
	if traces, err = Traces(t.Context(), client, driver.RBD); err != nil || len(traces) > 0 {
		t.Errorf("found %v again, %v", traces, err)
	}
	if traces, err = Traces(t.Context(), client, driver.CephFS); err != nil || len(traces) > 0 {
		t.Errorf("found %v of another driver, %v", traces, err)
	}
}
