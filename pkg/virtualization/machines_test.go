package virtualization

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// beside is the Config of a controller of RBD beside the platforms of the rig, with its default
// StorageClass.
func (r *gateRig) beside(t *testing.T) Config {
	t.Helper()
	classes := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().StorageClasses()
	own := storageClass(driver.RBD.StorageClass, func(c *storagev1.StorageClass) { c.Parameters = map[string]string{clusterIDParameter: "f"} })
	if err := classes.Informer().GetStore().Add(own); err != nil {
		t.Fatal(err)
	}
	return Config{Env: ctrl.Env{
		Driver: driver.RBD, Operator: r.operator, Dynamic: r.client, StorageClasses: classes, Served: r.config.Served, Recorder: r.config.Recorder,
		CSIDrivers: informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().CSIDrivers(),
	},
		Watches: r.config.Watches,
	}
}

// create makes an object, and waits until it is seen.
func (r *gateRig) create(t *testing.T, k kind, version string, object *unstructured.Unstructured) {
	t.Helper()
	if _, err := r.client.Resource(k.WithVersion(version)).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.await(t, k, object.GetName(), func(seen *unstructured.Unstructured) bool { return seen != nil })
}

// await waits until an object, nil if there is none, is seen as it should be.
func (r *gateRig) await(t *testing.T, k kind, name string, as func(*unstructured.Unstructured) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return as(r.config.Watches.get(k, name)), nil
	})
	if err != nil {
		t.Fatalf("%s %s is not seen as it is", k.crd(), name)
	}
}

func named(name string, content map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: content}
	out.SetName(name)
	return out
}

func TestMistakesAreToldOnce(t *testing.T) {
	r := newGateRig(t)
	r.served[importers.crd()] = []string{"v1beta1"}
	r.expect(t, "CDI is there", storageProfiles, ready)
	r.expect(t, "CDI's settings are", importers, ready)
	var told []string
	var mute error
	c := &MachinesController{told: map[Mistake]bool{}, MachinesConfig: MachinesConfig{
		Config: r.beside(t),
		Held:   &ctrl.Latest[operatorv1.StorageClassStateName]{},
	}, warn: func(_ context.Context, m Mistake) error {
		told = append(told, m.Reason+" "+m.Name)
		return mute
	}}
	expect := func(reason string, status operatorv1.ConditionStatus, text string, events ...string) {
		t.Helper()
		told = nil
		for range 2 {
			if err := c.sync(t.Context(), nil); !errors.Is(err, mute) {
				t.Fatalf("%s: %v", reason, err)
			}
		}
		if diff := cmp.Diff(events, told); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", reason, diff)
		}
		got := r.operator.Condition(condition.MachinesUsable)
		if status == "" && got != nil || status != "" && (got == nil || got.Status != status || !strings.Contains(got.Message, text)) {
			t.Errorf("%s: got %+v, want %s with %q", reason, got, status, text)
		}
	}
	const event = condition.CloneOverride + " cdi"
	cdi := func() *unstructured.Unstructured {
		return named("cdi", map[string]any{"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "CDI", "spec": map[string]any{"cloneStrategyOverride": "copy"}})
	}
	mend := func() {
		t.Helper()
		if err := r.client.Resource(importers.WithVersion("v1beta1")).Delete(t.Context(), "cdi", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		r.await(t, importers, "cdi", func(seen *unstructured.Unstructured) bool { return seen == nil })
	}
	expect("nothing is wrong", operatorv1.ConditionTrue, "")
	r.create(t, importers, "v1beta1", cdi())
	mute = errors.New("no events today")
	expect("who was not heard says it again", operatorv1.ConditionFalse, "remove it", event, event)
	mute = nil
	expect("and then no more", operatorv1.ConditionFalse, "remove it", event)
	mend()
	expect("it was mended", operatorv1.ConditionTrue, "")
	r.create(t, importers, "v1beta1", cdi())
	expect("the same mistake again", operatorv1.ConditionFalse, "remove it", event)
	if _, known := c.Matrix.Get(); !known {
		t.Error("nothing is known of what virtual machines can do")
	}
	delete(r.served, storageProfiles.crd())
	r.expect(t, "CDI goes", storageProfiles, absent)
	expect("nobody has virtual machines", "", "")
	if matrix, known := c.Matrix.Get(); known {
		t.Errorf("without CDI, it is still told what virtual machines can do: %v", matrix)
	}
}
