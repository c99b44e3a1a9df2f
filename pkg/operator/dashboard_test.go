package operator

import (
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestDashboard(t *testing.T) {
	configMaps := corev1.SchemeGroupVersion.WithResource("configmaps")
	board := func(label, text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "openshift-config-managed", Labels: map[string]string{"board": label}},
			Data:       map[string]string{"d.json": text},
		}
	}
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "openshift-config-managed")
	forbidden := apierrors.NewForbidden(configMaps.GroupResource(), "d", nil)
	for name, tc := range map[string]struct {
		reason         string
		held           []runtime.Object
		state          operatorv1.ManagementState
		elsewhere      bool
		refusal        error
		writes         int
		fails, missing bool
	}{
		"New":         {reason: "nobody has made it", writes: 1},
		"Same":        {reason: "nothing is to be done", held: []runtime.Object{board("true", "{}")}},
		"Other":       {reason: "another text", held: []runtime.Object{board("true", "[]")}, writes: 1},
		"Unlabelled":  {reason: "the console would not find it", held: []runtime.Object{board("", "{}")}, writes: 1},
		"Unmanaged":   {reason: "nothing may be written", state: operatorv1.Unmanaged, missing: true},
		"Kubernetes":  {reason: "nobody would show it", elsewhere: true, missing: true},
		"NoNamespace": {reason: "there is no console", refusal: absent, writes: 1, missing: true},
		"Forbidden":   {reason: "an older role", refusal: forbidden, writes: 1, fails: true, missing: true},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset(tc.held...)
			if tc.refusal != nil {
				kube.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.refusal })
			}
			if tc.state == "" {
				tc.state = operatorv1.Managed
			}
			dynamic := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{configMaps: "ConfigMapList"})
			d := dashboard{
				driver: driver.RBD, operator: conditiontest.New(tc.state), wanted: board("true", "{}"), client: kube.CoreV1(), manager: "m",
				watch: &ctrl.Watch{Client: dynamic, Resource: configMaps, Namespace: "openshift-config-managed", Name: "d", Served: func() bool { return !tc.elsewhere }},
			}
			err := d.sync(t.Context(), factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{})))
			if (err != nil) != tc.fails {
				t.Errorf("%s: %v", tc.reason, err)
			}
			writes := 0
			for _, action := range kube.Actions() {
				if action.GetVerb() != "get" {
					writes++
				}
			}
			held, err := kube.CoreV1().ConfigMaps("openshift-config-managed").Get(t.Context(), "d", metav1.GetOptions{})
			if writes != tc.writes || tc.missing != apierrors.IsNotFound(err) || err == nil && !d.isWanted(held) {
				t.Errorf("%s: %d writes, want %d; held %v, %v", tc.reason, writes, tc.writes, held, err)
			}
		})
	}
}
