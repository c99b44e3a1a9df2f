package gate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/controller/controllertest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

type rig struct {
	controller *Gate
	config     Config
	operator   *conditiontest.Operator
	client     *fake.Clientset
	factory    informers.SharedInformerFactory
	declared   *controllertest.Declarations
	settings   driver.Settings
	removed    bool
	unknown    bool
	wrong      error
}

func newRig(t *testing.T, d driver.Driver, operator *conditiontest.Operator, objects ...runtime.Object) *rig {
	t.Helper()
	client := fake.NewClientset(objects...)
	kube := informers.NewSharedInformerFactory(client, 0)
	r := &rig{operator: operator, client: client, factory: kube, declared: &controllertest.Declarations{}}
	r.config = Config{Env: ctrl.Env{
		Driver: d, Operator: operator, Secrets: kube.Core().V1().Secrets(), ConfigMaps: kube.Core().V1().ConfigMaps(), Deployments: kube.Apps().V1().Deployments(),
		DaemonSets: kube.Apps().V1().DaemonSets(), CSIDrivers: kube.Storage().V1().CSIDrivers(), PersistentVolumes: kube.Core().V1().PersistentVolumes(),
		ClusterCSIDrivers: r.declared,
		Settings:          func() (driver.Settings, error) { return r.settings, r.wrong }, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	},
		Removed:           func() (bool, bool, error) { return r.removed, !r.unknown, nil },
		Filesystem:        &ctrl.Latest[bool]{},
		Removal:           &ctrl.Latest[bool]{},
		OperandConditions: []string{"ControllerDegraded", "NodeProgressing"},
	}
	r.controller = New(r.config)
	ctx, cancel := context.WithCancel(t.Context())
	kube.Start(ctx.Done())
	kube.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		kube.Shutdown()
	})
	return r
}

// TestWaitsForDeclaration: a driver that is Removed must not be called wanted because nobody has read that yet.
func TestWaitsForDeclaration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, driver.RBD, conditiontest.New(operatorv1.Managed))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.controller.Run(ctx, 1) })
		synctest.Wait()
		if state, known := r.controller.State.Get(); known {
			t.Errorf("decided %+v before ClusterCSIDrivers were read", state)
		}
		r.declared.Read.Store(true)
		<-time.After(time.Second) // The gate looks each 100 ms whether they were.
		if _, known := r.controller.State.Get(); !known {
			t.Error("nothing was decided")
		}
		cancel()
		running.Wait()
	})
}

func (r *rig) sync(t *testing.T) State {
	t.Helper()
	if err := r.controller.Sync(t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		t.Fatal(err)
	}
	state, known := r.controller.State.Get()
	if !known {
		t.Fatal("no state was published")
	}
	return state
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: driver.Namespace}
}

func volume(driverName string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName}},
	}}
}

func csiDriver(annotations map[string]string) *storagev1.CSIDriver {
	return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.Name, Annotations: annotations}}
}

func TestSync(t *testing.T) {
	elsewhere := metav1.ObjectMeta{Name: driver.CredentialsSecret, Namespace: "default"}
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		open    bool
		// types are the conditions afterwards.
		types []string
	}{
		"Nothing": {
			reason: "disabled, and the operands' old conditions are gone",
			types:  []string{"Disabled", "KeptDegraded"},
		},
		"Secret": {
			reason:  "a Ceph cluster is declared",
			objects: []runtime.Object{&corev1.Secret{ObjectMeta: meta(driver.CredentialsSecret)}},
			open:    true,
			types:   []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"OtherSecret": {
			reason:  "pkg/connection would not read it",
			objects: []runtime.Object{&corev1.Secret{ObjectMeta: meta("second-cluster")}},
			types:   []string{"Disabled", "KeptDegraded"},
		},
		"LabelledSecret": {
			reason: "it adds a Ceph cluster, the first one as well",
			objects: []runtime.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "second-cluster", Namespace: driver.Namespace,
				Labels: map[string]string{driver.ClusterLabel: ""}}}},
			open:  true,
			types: []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"SecretElsewhere": {
			reason:  "another namespace declares nothing",
			objects: []runtime.Object{&corev1.Secret{ObjectMeta: elsewhere}},
			types:   []string{"Disabled", "KeptDegraded"},
		},
		"Deployment": {
			reason:  "deployed before",
			objects: []runtime.Object{&appsv1.Deployment{ObjectMeta: meta(driver.RBD.ControllerName())}},
			open:    true,
			types:   []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"DaemonSet": {
			reason:  "deployed before",
			objects: []runtime.Object{&appsv1.DaemonSet{ObjectMeta: meta(driver.RBD.NodeName())}},
			open:    true,
			types:   []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"OwnCSIDriverAndMons": {
			reason: "deployed before; the annotation may be stripped, the hash stays",
			objects: []runtime.Object{
				csiDriver(map[string]string{"operator.openshift.io/spec-hash": "x"}),
				&corev1.Secret{ObjectMeta: meta(driver.RBD.ConfigSecret())},
			},
			open:  true,
			types: []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"OwnCSIDriverAlone": {
			reason:  "what a Secret that never led to a Ceph cluster leaves when it is deleted: no pod ever ran",
			objects: []runtime.Object{csiDriver(map[string]string{"operator.openshift.io/spec-hash": "x"})},
			types:   []string{"Disabled", "KeptDegraded"},
		},
		"MonsAlone": {
			reason:  "kept for somebody else's driver, which is gone",
			objects: []runtime.Object{&corev1.Secret{ObjectMeta: meta(driver.RBD.ConfigSecret())}},
			types:   []string{"Disabled", "KeptDegraded"},
		},
		"OwnVolume": {
			reason:  "volumes need their driver",
			objects: []runtime.Object{volume(driver.RBD.Name)},
			open:    true,
			types:   []string{"ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
		"OtherVolume": {
			reason:  "another driver's volume is no reason",
			objects: []runtime.Object{volume(driver.CephFS.Name)},
			types:   []string{"Disabled", "KeptDegraded"},
		},
		"ForeignCSIDriver": {
			reason: "Helm's annotation alone does not make it ours",
			objects: []runtime.Object{
				csiDriver(map[string]string{"meta.helm.sh/release-name": "csi"}),
				&corev1.Secret{ObjectMeta: meta(driver.CredentialsSecret)},
			},
			types: []string{"Disabled", "KeptDegraded"},
		},
		"ForeignCSIDriverBesideOurs": {
			reason: "workloads stay, the condition informs",
			objects: []runtime.Object{
				csiDriver(nil),
				&appsv1.Deployment{ObjectMeta: meta(driver.RBD.ControllerName())},
			},
			open:  true,
			types: []string{"CSIDriverManaged", "ControllerDegraded", "KeptDegraded", "NodeProgressing"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			operator := conditiontest.New(operatorv1.Managed).With(
				operatorv1.OperatorCondition{Type: "ControllerDegraded", Status: operatorv1.ConditionTrue},
				operatorv1.OperatorCondition{Type: "KeptDegraded", Status: operatorv1.ConditionFalse},
				operatorv1.OperatorCondition{Type: "NodeProgressing", Status: operatorv1.ConditionTrue},
			)
			r := newRig(t, driver.RBD, operator, tc.objects...)
			if state := r.sync(t); state.Open != tc.open {
				t.Errorf("%s: got %+v, want open %v", tc.reason, state, tc.open)
			}
			if diff := cmp.Diff(tc.types, operator.Types()); diff != "" {
				t.Errorf("%s: conditions (-want +got):\n%s", tc.reason, diff)
			}
			writes := operator.Writes()
			r.sync(t)
			if operator.Writes() != writes {
				t.Errorf("%s: the second sync wrote", tc.reason)
			}
		})
	}
}

func TestDisabledIsRemovedNotFalse(t *testing.T) {
	operator := conditiontest.New(operatorv1.Unmanaged)
	r := newRig(t, driver.CephFS, operator, &corev1.Secret{ObjectMeta: meta(driver.CredentialsSecret)})
	steps := []struct {
		reason string
		before func()
		open   bool
		why    string
	}{
		{reason: "Ceph has not answered yet", before: func() {}, why: condition.WaitingForCeph},
		{reason: "no filesystem", before: func() { r.config.Filesystem.Set(false) }, why: condition.NoFilesystem},
		{reason: "a filesystem was made", before: func() { r.config.Filesystem.Set(true) }, open: true},
	}
	for _, step := range steps {
		step.before()
		if state := r.sync(t); state.Open != step.open || state.Reason != step.why {
			t.Errorf("%s: got %+v, want open %v, reason %q", step.reason, state, step.open, step.why)
		}
		disabled := operator.Condition(condition.Disabled)
		if step.open {
			if disabled != nil {
				t.Errorf("%s: Disabled must be gone, also not False: %+v", step.reason, disabled)
			}
			continue
		}
		if disabled == nil || disabled.Status != operatorv1.ConditionTrue || disabled.Reason != step.why {
			t.Errorf("%s: got %+v, want Disabled=True, reason %s", step.reason, disabled, step.why)
		}
	}
}

func TestWithoutResourceTheStateIsKnown(t *testing.T) {
	r := newRig(t, driver.RBD, conditiontest.Missing(), &corev1.Secret{ObjectMeta: meta(driver.CredentialsSecret)})
	if state := r.sync(t); !state.Open {
		t.Errorf("got %+v, want open: a ClusterCSIDriver that appears must find everything ready", state)
	}
}

// TestRemoved: the gate closes over a driver that is deployed when a person wants that, and says nothing
// before it is known how far that is.
func TestRemoved(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: meta(driver.RBD.ControllerName())}
	r := newRig(t, driver.RBD, conditiontest.New(operatorv1.Removed), deployment)
	r.unknown = true
	if err := r.controller.Sync(t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		t.Fatal(err)
	}
	if state, known := r.controller.State.Get(); known || r.operator.Writes() > 0 {
		t.Errorf("on a guess: %+v, %d writes", state, r.operator.Writes())
	}
	r.unknown, r.removed = false, true
	if state := r.sync(t); state.Open || state.Reason != condition.Removed || r.operator.Condition(condition.Disabled) == nil {
		t.Errorf("got %+v, conditions %v", state, r.operator.Types())
	}
	r.removed = false
	if state := r.sync(t); !state.Open || r.operator.Condition(condition.Disabled) != nil {
		t.Errorf("afterwards: %+v, conditions %v", state, r.operator.Types())
	}
}
