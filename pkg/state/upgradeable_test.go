package state_test

import (
	"maps"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestUpgradeable(t *testing.T) {
	written := map[string]string{
		"version": "1", "cluster": clusterJSON, "placement": placementJSON, "settings": `{"ceph":null,"annotated":""}`,
		"users": `{"minted":true}`, "infraID": `{"id":"a"}`,
	}
	none := `{"uid":"","annotations":null,"labels":null}`
	tests := map[string]struct {
		reason string
		of     map[string]string
		// want are the keys in the message; where it is empty, there is no condition.
		want string
	}{
		"Present": {reason: "this version has written all of it"},
		"Classes": {reason: "they are remembered for a while",
			of: map[string]string{"class": none, "snapshotClass": none, "groupSnapshotClass": none, "virtualizationClass": none}},
		"Newer":      {reason: "a later version adds keys and fields", of: map[string]string{"version": "2", "more": "{}", "users": `{"minted":true,"more":1}`}},
		"Unreadable": {reason: "whoever needs it says so", of: map[string]string{"users": "{"}},
		"Placement":  {reason: "journalNamespace came later", of: map[string]string{"placement": `{"fsid":"f1","pool":"p1","dataPool":"","filesystem":"","subvolumeGroup":""}`}, want: "placement"},
		"Cluster":    {reason: "former came later", of: map[string]string{"cluster": `{"fsid":"f1","epoch":4,"monitors":[],"monHost":[]}`}, want: "cluster"},
		"Settings":   {reason: "annotated came later", of: map[string]string{"settings": `{"ceph":{}}`}, want: "settings"},
		"Nothing":    {reason: "no field is there", of: map[string]string{"users": "null"}, want: "users"},
		"Class":      {reason: "it is read only when the class is gone", of: map[string]string{"virtualizationClass": `{"uid":"u"}`}, want: "virtualizationClass"},
		"Many":       {reason: "in the same order each time", of: map[string]string{"users": "{}", "infraID": "{}", "class": "{}"}, want: "class, infraID, users"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data := maps.Clone(written)
			maps.Copy(data, tc.of)
			operator := conditiontest.New(operatorv1.Unmanaged)
			sync := upgradeable(t, operator, data)
			sync()
			got := operator.Condition(condition.StateUpgradeable)
			if (got != nil) != (tc.want != "") {
				t.Fatalf("%s: %v", tc.reason, got)
			}
			if got != nil && (got.Status != operatorv1.ConditionFalse || got.Reason != condition.FormerFormat || !strings.Contains(got.Message, " has "+tc.want+" as ")) {
				t.Errorf("%s: %v", tc.reason, got)
			}
			writes := operator.Writes()
			if sync(); operator.Writes() != writes {
				t.Errorf("%s: said again", tc.reason)
			}
		})
	}
}

// TestUpgradeableAgain: once all is written anew, nothing keeps the cluster from being upgraded.
func TestUpgradeableAgain(t *testing.T) {
	operator := conditiontest.New(operatorv1.Managed)
	upgradeable(t, operator, map[string]string{"users": "{}"})()
	upgradeable(t, operator, map[string]string{"users": `{"minted":false}`})()
	if got := operator.Condition(condition.StateUpgradeable); got != nil {
		t.Errorf("%v", got)
	}
	upgradeable(t, operator, nil)()
	if got := operator.Condition(condition.StateUpgradeable); got != nil {
		t.Errorf("without a ConfigMap: %v", got)
	}
}

// upgradeable returns the controller's sync over a ConfigMap that has data; none where that is nil.
func upgradeable(t *testing.T, operator *conditiontest.Operator, data map[string]string) (sync func()) {
	configMaps := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().ConfigMaps()
	if data != nil {
		stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StateConfigMap()}, Data: data}
		if err := configMaps.Informer().GetIndexer().Add(stored); err != nil {
			t.Fatal(err)
		}
	}
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	c := state.NewUpgradeable(ctrl.Env{Driver: driver.RBD, Operator: operator, ConfigMaps: configMaps, Recorder: recorder})
	return func() {
		t.Helper()
		if err := c.Sync(t.Context(), factory.NewSyncContext("test", recorder)); err != nil {
			t.Fatal(err)
		}
	}
}
