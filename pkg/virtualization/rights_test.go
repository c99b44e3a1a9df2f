package virtualization

import (
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestReadOnlyWithRights: what is opt-in is not even read before, which would be denied.
func TestReadOnlyWithRights(t *testing.T) {
	d := driver.RBD
	for role, k := range map[string]kind{d.ImagesRole(): policyKinds(d)[0], d.ModulesRole(): moduleKinds(d)[0]} {
		r := newGateRig(t)
		r.served[k.crd()] = []string{"v1"}
		r.expect(t, "the role is not bound", k, loading)
		binding := selfBinding(d, role)
		binding.Subjects[0].Name = "somebody"
		r.addBinding(t, binding)
		r.expect(t, "it is somebody else's", k, loading)
		r.unbind(t, role)
		binding = selfBinding(d, role)
		binding.CreationTimestamp.Time = r.clock.Now()
		r.addBinding(t, binding)
		r.expect(t, "API servers are yet to hear of it", k, loading)
		r.clock.SetTime(r.clock.Now().Add(spread))
		r.expect(t, "they have", k, ready)
		r.unbind(t, role)
		r.expect(t, "it has gone", k, loading)
		r.bind(t, role)
		r.expect(t, "it is back, and not new", k, ready)
	}
}

// TestBindingAnew: what API servers knew of the last binding says nothing of the next one.
func TestBindingAnew(t *testing.T) {
	r, role, crd := newGateRig(t), driver.RBD.MachinesRole(), storageProfiles.crd()
	r.expect(t, "CDI is there", storageProfiles, ready)
	r.clock.SetTime(r.clock.Now().Add(spread))
	versions := r.served[crd]
	delete(r.served, crd)
	r.expect(t, "it has gone", storageProfiles, absent)
	r.unbind(t, role)
	binding := selfBinding(driver.RBD, role)
	binding.UID, binding.CreationTimestamp.Time = "anew", r.clock.Now()
	r.addBinding(t, binding)
	r.served[crd] = versions
	r.sync(t)
	if _, watched := r.config.Watches.resource(storageProfiles); watched {
		t.Error("it is read before API servers have heard that it may be")
	}
	r.clock.SetTime(r.clock.Now().Add(spread))
	r.expect(t, "they have", storageProfiles, ready)
}

// TestBindingGivenBack: a CRD that comes in the moment in which its rights are given back is not read by what the
// cache has of them.
func TestBindingGivenBack(t *testing.T) {
	r, role, crd := newGateRig(t), driver.RBD.MachinesRole(), storageProfiles.crd()
	r.expect(t, "CDI is there", storageProfiles, ready)
	versions := r.served[crd]
	delete(r.served, crd)
	r.expect(t, "it has gone", storageProfiles, absent)
	if err := r.kube.Tracker().Delete(rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "", role); err != nil {
		t.Fatal(err)
	}
	r.clock.SetTime(r.clock.Now().Add(spread))
	r.served[crd] = versions
	r.sync(t)
	if _, watched := r.config.Watches.resource(storageProfiles); watched {
		t.Error("it is read with rights that were given back")
	}
}

func TestRights(t *testing.T) {
	d := driver.RBD
	k := moduleKinds(d)[0]
	ours := ownObject(d, machineConfigs.Group+"/v1", "MachineConfig", k.name)
	theirs := ours.DeepCopy()
	theirs.SetLabels(nil)
	ending := ours.DeepCopy()
	ending.SetDeletionTimestamp(&metav1.Time{})
	ending.SetFinalizers([]string{"somebody.example.com/waits"})
	tests := map[string]struct {
		reason string
		wish   wish
		err    error
		bound  bool
		held   *unstructured.Unstructured
		// unserved: the kind's CRD is missing; unread: the list does not answer.
		unserved, unread bool
		want             string
	}{
		"Off":          {reason: "nobody asked"},
		"On":           {reason: "it was switched on", wish: wish{asked: true}, want: "create"},
		"Pointless":    {reason: "nothing here takes them", wish: wish{asked: true, pointless: "no"}},
		"Has":          {reason: "idle means idle", wish: wish{asked: true}, bound: true},
		"SwitchedOff":  {reason: "it was switched off, and nothing is left", bound: true, want: "delete"},
		"Left":         {reason: "what is left is removed first", bound: true, held: ours},
		"Ending":       {reason: "somebody's finalizer holds it", bound: true, held: ending},
		"Theirs":       {reason: "what is left is somebody else's", bound: true, held: theirs, want: "delete"},
		"Undecided":    {reason: "the settings are not known", err: errUndecided, bound: true},
		"Unknown":      {reason: "an error proves nothing", err: errors.New("no"), bound: true},
		"Unserved":     {reason: "a kind that is not served may come back with its objects", bound: true, unserved: true},
		"Unread":       {reason: "nobody has looked", bound: true, unread: true},
		"PointlessNow": {reason: "it is still asked for", wish: wish{asked: true, pointless: "no"}, bound: true, unserved: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newGateRig(t)
			if tc.held != nil {
				if err := r.client.Tracker().Create(machineConfigs.WithVersion("v1"), tc.held, ""); err != nil {
					t.Fatal(err)
				}
			}
			if tc.unread {
				r.client.PrependReactor("list", machineConfigs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, errors.New("no answer")
				})
			}
			if !tc.unserved {
				r.served[k.crd()] = []string{"v1"}
			}
			wanted := loading
			if tc.bound {
				r.bind(t, d.ModulesRole())
				wanted = map[bool]state{false: ready, true: loading}[tc.unread]
				if tc.unserved {
					wanted = absent
				}
			}
			r.expect(t, tc.reason, k, wanted)
			r.kube.ClearActions()
			c := keeper{
				Config: Config{Env: ctrl.Env{Driver: d, Operator: r.operator, Dynamic: r.client, Served: r.config.Served, Recorder: r.config.Recorder}, Watches: r.config.Watches, Rights: r.config.Rights},
				name:   modulesName, conditionType: "Tried", role: d.ModulesRole(), kinds: []kind{k},
				wanted: func() (wish, error) { return tc.wish, tc.err },
			}
			if err := c.sync(t.Context(), r.syncCtx); (err != nil) != (tc.err != nil && !errors.Is(tc.err, errUndecided)) {
				t.Fatal(err)
			}
			if got := r.writes(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// writes are the verbs of what was written of bindings.
func (r *gateRig) writes() string {
	out := ""
	for _, action := range r.kube.Actions() {
		if action.GetVerb() != "get" && action.GetResource() == rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings") {
			out += action.GetVerb()
		}
	}
	return out
}
