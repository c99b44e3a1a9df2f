package virtualization

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestSettingsAreNeverMade, nor written over somebody who was faster.
func TestSettingsAreNeverMade(t *testing.T) {
	r := newGateRig(t)
	r.served = map[string][]string{harvesterSettings: {"v1beta1"}, snapshotClasses.crd(): {"v1"}}
	for _, k := range []kind{driverConfig, expansion, snapshotClasses} {
		r.expect(t, "Harvester is there", k, ready)
	}
	controller := NewSettings(r.beside(t))
	status := func(reason string, want operatorv1.ConditionStatus) {
		t.Helper()
		if got := r.operator.Condition(condition.HarvesterSettingsCurrent); got == nil || got.Status != want {
			t.Errorf("%s: got %+v, want %s", reason, got, want)
		}
	}
	sync := func(reason string) {
		t.Helper()
		if err := controller.Sync(t.Context(), r.syncCtx); err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
	}
	r.client.ClearActions()
	sync("Harvester is yet to make them")
	if actions := r.client.Actions(); len(actions) > 0 {
		t.Errorf("Harvester is yet to make them: got %v", actions)
	}
	status("Harvester is yet to make them", operatorv1.ConditionTrue)
	setting := named(driverConfig.name, map[string]any{
		"apiVersion": "harvesterhci.io/v1beta1", "kind": "Setting", valueField: "", defaultField: `{"driver.longhorn.io":1}`,
	})
	r.create(t, driverConfig, "v1beta1", setting)
	sync("without a snapshot class, there is nothing to enter")
	value := func() any {
		t.Helper()
		held, err := r.client.Resource(driverConfig.WithVersion("v1beta1")).Get(t.Context(), setting.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return held.Object[valueField]
	}
	if got := value(); got != "" {
		t.Errorf("without a snapshot class: got %q", got)
	}

	r.create(t, snapshotClasses, "v1", named("s", map[string]any{
		"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "driver": "rbd.csi.ceph.com", "parameters": map[string]any{clusterIDParameter: "f"},
	}))
	busy := true
	r.client.PrependReactor("update", "settings", func(clienttesting.Action) (bool, runtime.Object, error) {
		return busy, nil, apierrors.NewConflict(settings, setting.GetName(), nil)
	})
	if err := controller.Sync(t.Context(), r.syncCtx); !apierrors.IsConflict(err) {
		t.Errorf("somebody was faster: got error %v", err)
	}
	status("nothing is wrong when somebody was faster", operatorv1.ConditionTrue)
	busy = false
	sync("the next time")
	const want = `{"driver.longhorn.io":1,"rbd.csi.ceph.com":{"volumeSnapshotClassName":"s","backupVolumeSnapshotClassName":""}}`
	if diff := cmp.Diff(want, value()); diff != "" {
		t.Error(diff)
	}
	r.await(t, driverConfig, setting.GetName(), func(seen *unstructured.Unstructured) bool { return seen.Object[valueField] == want })
	r.client.ClearActions()
	sync("a second time")
	for _, action := range r.client.Actions() {
		if action.GetVerb() != "list" && action.GetVerb() != "watch" {
			t.Errorf("idle means idle: got %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}

// TestAdviceForHarvester: it has kubectl, not oc, and a kind of Rancher's that is called settings, too.
func TestAdviceForHarvester(t *testing.T) {
	for value, told := range map[string]string{`{"rbd.csi.ceph.com":{}}`: "is {}", `{}`: "was removed"} {
		setting := &unstructured.Unstructured{Object: map[string]any{"value": value}}
		setting.SetName("csi-driver-config")
		setting.SetAnnotations(map[string]string{"storage.openshift.io/applied-rbd.csi.ceph.com": "true"})
		c := entries{Config: Config{Env: ctrl.Env{Driver: driver.RBD}}}
		got, err := c.keep(t.Context(), setting, "true")
		const command = ": kubectl annotate settings.harvesterhci.io csi-driver-config storage.openshift.io/applied-rbd.csi.ceph.com-"
		if err != nil || !strings.Contains(got, told) || !strings.HasSuffix(got, command) {
			t.Errorf("got %q, %v", got, err)
		}
	}
}
