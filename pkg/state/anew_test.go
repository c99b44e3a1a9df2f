package state_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// written is what this version writes.
var written = map[string]string{
	"version": "1", "cluster": clusterJSON, "placement": placementJSON, "settings": `{"annotated":"","ceph":null}`,
	"users": `{"minted":true}`, "infraID": `{"id":"a"}`, "class": `{"annotations":null,"labels":null,"uid":""}`,
}

func TestAnew(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     map[string]string
		// want is what of that is written anew; keys are those in the message where nothing may be written.
		want map[string]string
		keys string
	}{
		"Present":    {reason: "this version has written all of it"},
		"Newer":      {reason: "a later version adds keys and fields", of: map[string]string{"version": "2", "more": "{}", "users": `{"minted":true,"more":1}`}},
		"Unreadable": {reason: "whoever needs it says so", of: map[string]string{"users": "{", "infraID": "[]"}},
		"WrongType":  {reason: "a person has to correct it", of: map[string]string{"infraID": `{"id":[]}`, "cluster": `{"fsid":7}`}},
		"Spelt":      {reason: "it is read", of: map[string]string{"infraID": `{"ID":"x"}`}},
		"Placement": {
			reason: "journalNamespace came later; what a newer version added stays",
			of:     map[string]string{"placement": `{"fsid":"f1","pool":"p1","dataPool":"","filesystem":"","subvolumeGroup":"","more":1}`},
			want:   map[string]string{"placement": `{"dataPool":"","filesystem":"","fsid":"f1","journalNamespace":"","more":1,"pool":"p1","subvolumeGroup":""}`},
			keys:   "placement",
		},
		"Settings": {
			reason: "annotated came later", of: map[string]string{"settings": `{"ceph":{"mounter":"x"}}`},
			want: map[string]string{"settings": `{"annotated":"","ceph":{"mounter":"x"}}`}, keys: "settings",
		},
		"Nothing": {reason: "it reads as nothing", of: map[string]string{"users": "null"}, want: map[string]string{"users": `{"minted":false}`}, keys: "users"},
		"Many": {
			reason: "in the same order each time",
			of:     map[string]string{"version": "", "infraID": "{}", "snapshotClass": `{"uid":"u"}`, "class": "{}"},
			want: map[string]string{"version": "1", "infraID": `{"id":""}`, "snapshotClass": `{"annotations":null,"labels":null,"uid":"u"}`,
				"class": written["class"]},
			keys: "class, infraID, snapshotClass",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data := maps.Clone(written)
			maps.Copy(data, tc.of)
			t.Run("Unmanaged", func(t *testing.T) {
				f := remembering(t, operatorv1.Unmanaged, data)
				for range 2 {
					f.sync(t)
				}
				if diff := cmp.Diff(data, f.data(t)); diff != "" {
					t.Errorf("it was changed: -was +is:\n%s", diff)
				}
				got := f.operator.Condition(condition.StateUpgradeable)
				if (got != nil) != (tc.keys != "") || f.operator.Writes() > 1 {
					t.Fatalf("%s: %v, said %d times", tc.reason, got, f.operator.Writes())
				}
				if got != nil && (got.Status != operatorv1.ConditionFalse || got.Reason != condition.FormerFormat || !strings.Contains(got.Message, " has "+tc.keys+" as ")) {
					t.Errorf("%s: %v", tc.reason, got)
				}
			})
			for _, managed := range []operatorv1.ManagementState{operatorv1.Managed, operatorv1.Removed} {
				t.Run(string(managed), func(t *testing.T) {
					f := remembering(t, managed, data)
					f.sync(t)
					want := maps.Clone(data)
					maps.Copy(want, tc.want)
					if diff := cmp.Diff(want, f.data(t)); diff != "" {
						t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
					}
					if got := f.operator.Condition(condition.StateUpgradeable); got != nil {
						t.Errorf("%s: %v", tc.reason, got)
					}
				})
			}
		})
	}
}

// TestAnewOnlyWhatWasRead: the API server refuses what does not know the newest version, and to make anew what is gone.
func TestAnewOnlyWhatWasRead(t *testing.T) {
	f := remembering(t, operatorv1.Managed, map[string]string{"version": "1", "users": "{}", "infraID": "{}"})
	f.sync(t)
	for _, action := range f.client.Actions() {
		patch, applies := action.(clienttesting.PatchAction)
		if !applies {
			t.Fatalf("%v", action)
		}
		var sent corev1.ConfigMap
		if err := json.Unmarshal(patch.GetPatch(), &sent); err != nil {
			t.Fatal(err)
		}
		if sent.UID != "u" || sent.ResourceVersion == "" {
			t.Errorf("%s", patch.GetPatch())
		}
	}
	if n := len(f.client.Actions()); n != 2 {
		t.Errorf("%d writes", n)
	}
}

// rememberer is a cluster with a state ConfigMap and a ClusterCSIDriver.
type rememberer struct {
	client     *fake.Clientset
	operator   *conditiontest.Operator
	controller factory.Controller
	recorder   events.Recorder
}

func stateOf(version string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StateConfigMap(), UID: "u", ResourceVersion: version}, Data: data,
	}
}

func remembering(t *testing.T, managed operatorv1.ManagementState, data map[string]string) rememberer {
	t.Helper()
	f := rememberer{client: fake.NewClientset(stateOf("1", data)), operator: conditiontest.New(managed), recorder: events.NewInMemoryRecorder("test", clock.RealClock{})}
	configMaps := informers.NewSharedInformerFactory(f.client, 0).Core().V1().ConfigMaps()
	crs := operatorinformers.NewSharedInformerFactory(nil, 0).Operator().V1().ClusterCSIDrivers()
	cr := &operatorv1.ClusterCSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.Name}}
	cr.Spec.ManagementState = managed
	for _, err := range []error{configMaps.Informer().GetIndexer().Add(stateOf("1", data)), crs.Informer().GetIndexer().Add(cr)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f.controller = state.NewAnew(ctrl.Env{Driver: driver.RBD, Operator: f.operator, Kube: f.client, ConfigMaps: configMaps, ClusterCSIDrivers: crs, Recorder: f.recorder})
	return f
}

func (f rememberer) sync(t *testing.T) {
	t.Helper()
	if err := f.controller.Sync(t.Context(), factory.NewSyncContext("test", f.recorder)); err != nil {
		t.Fatal(err)
	}
}

func (f rememberer) data(t *testing.T) map[string]string {
	t.Helper()
	stored, err := f.client.CoreV1().ConfigMaps(driver.Namespace).Get(t.Context(), driver.RBD.StateConfigMap(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return stored.Data
}
