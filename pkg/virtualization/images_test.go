package virtualization

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func classOf(name, provisioner, mounter string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, Parameters: map[string]string{"mounter": mounter}}
}

// wishing has StorageClasses of both drivers, and the CRDs that are served.
func wishing(t *testing.T, d driver.Driver, settings func() (driver.Settings, error), served ...string) Config {
	t.Helper()
	classes := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().StorageClasses()
	for _, class := range []*storagev1.StorageClass{
		classOf("b", driver.RBD.Name, ""), classOf("a", driver.RBD.Name, ""), classOf("f", driver.CephFS.Name, "fuse"), classOf("x", "x", "rbd-nbd"),
	} {
		if err := classes.Informer().GetStore().Add(class); err != nil {
			t.Fatal(err)
		}
	}
	return Config{Env: ctrl.Env{
		Driver: d, StorageClasses: classes, Settings: settings,
		Served: func(crd string) []string {
			for _, s := range served {
				if s == crd {
					return []string{"v1beta1", "v1alpha1"}
				}
			}
			return nil
		},
	}, Watches: &Watches{}}
}

func names(w wish) string {
	var out []string
	for _, i := range w.items {
		out = append(out, i.object.GetKind()+"/"+i.object.GetName())
	}
	return strings.Join(out, " ")
}

func TestWantedPolicies(t *testing.T) {
	const harvester, cdi = "virtualmachineimages.harvesterhci.io", "datasources.cdi.kubevirt.io"
	on := func() (driver.Settings, error) { return driver.Settings{ImageProtection: driver.ImagesProtected}, nil }
	tests := map[string]struct {
		reason    string
		settings  func() (driver.Settings, error)
		served    []string
		err       error
		asked     bool
		want      string
		pointless string
	}{
		"Default":   {reason: "it is opt-in", settings: func() (driver.Settings, error) { return driver.Settings{}, nil }, served: []string{harvester}},
		"Undecided": {reason: "what is there stays", settings: func() (driver.Settings, error) { return driver.Settings{}, errors.New("no") }, err: errUndecided},
		"Nobody":    {reason: "there are no images", settings: on, asked: true, pointless: "no disk images"},
		"Harvester": {
			reason: "its images", settings: on, served: []string{harvester}, asked: true,
			want: "ValidatingAdmissionPolicy/ceph-rbd-csi-images-virtualmachineimages ValidatingAdmissionPolicyBinding/ceph-rbd-csi-images-virtualmachineimages",
		},
		"CDI": {
			reason: "of its kinds, those that are served", settings: on, served: []string{cdi}, asked: true,
			want: "ValidatingAdmissionPolicy/ceph-rbd-csi-images-datasources ValidatingAdmissionPolicyBinding/ceph-rbd-csi-images-datasources",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := imageProtection{wishing(t, driver.RBD, tc.settings, tc.served...)}.wanted()
			if !errors.Is(err, tc.err) || got.asked != tc.asked || names(got) != tc.want {
				t.Errorf("%s: got %t, %q, %v", tc.reason, got.asked, names(got), err)
			}
			if (got.pointless == "") != (tc.pointless == "") || !strings.Contains(got.pointless, tc.pointless) {
				t.Errorf("%s: told %q", tc.reason, got.pointless)
			}
		})
	}
}

func TestPolicyIsForTheDriversClasses(t *testing.T) {
	on := func() (driver.Settings, error) { return driver.Settings{ImageProtection: driver.ImagesProtected}, nil }
	got, err := imageProtection{wishing(t, driver.RBD, on, "virtualmachineimages.harvesterhci.io")}.wanted()
	if err != nil {
		t.Fatal(err)
	}
	policy := got.items[0].object
	if version, _, _ := unstructured.NestedString(policy.Object, "spec", "paramKind", "apiVersion"); version != "harvesterhci.io/v1beta1" {
		t.Errorf("images are read as %s", version)
	}
	variables, _, _ := unstructured.NestedSlice(policy.Object, "spec", "variables")
	ours := variables[1].(map[string]any)["expression"].(string)
	if !strings.Contains(ours, "variables.class in ['a', 'b', 'ceph-rbd', 'ceph-rbd-virtualization'] ||") {
		t.Errorf("sorted, and of the driver alone, its own even while they are removed: %s", ours)
	}
	foreign := volumeClasses(driver.RBD, []*storagev1.StorageClass{classOf("ceph-rbd", "x", "")}, nil)
	if foreign.volumes != "['ceph-rbd-virtualization']" {
		t.Errorf("the name of its own class is somebody else's: %s", foreign.volumes)
	}
	if policy, _, _ := unstructured.NestedString(policy.Object, "spec", "failurePolicy"); policy != "Ignore" {
		t.Errorf("where images cannot be read, deletion is %s", policy)
	}
}

func TestWantedModules(t *testing.T) {
	atBoot := func() (driver.Settings, error) { return driver.Settings{KernelModules: driver.ModulesAtBoot}, nil }
	tests := map[string]struct {
		reason    string
		driver    driver.Driver
		served    []string
		source    string
		contents  string
		pointless bool
	}{
		"RBD":     {reason: "both, whether a class has rbd-nbd or none", driver: driver.RBD, served: []string{"machineconfigs.machineconfiguration.openshift.io"}, source: "data:,rbd%0Anbd%0A", contents: "    - modprobe rbd\n    - modprobe nbd\n"},
		"CephFS":  {reason: "one for all", driver: driver.CephFS, served: []string{"cloudinits.node.harvesterhci.io"}, source: "data:,ceph%0A", contents: "    - modprobe ceph\n"},
		"Neither": {reason: "node pods load them", driver: driver.CephFS, source: "data:,ceph%0A", contents: "    - modprobe ceph\n", pointless: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := kernelModules{wishing(t, tc.driver, atBoot, tc.served...)}.wanted()
			if err != nil || !got.asked || (got.pointless != "") != tc.pointless {
				t.Fatalf("%s: got %+v, %v", tc.reason, got, err)
			}
			roles := map[string]string{}
			for _, i := range got.items {
				object := i.object
				if !tc.driver.Owns(object) || object.GetName() != i.kind.name {
					t.Errorf("%s is not watched as %s, or without our mark", object.GetName(), i.kind.name)
				}
				if object.GetKind() == "CloudInit" {
					text, _, _ := unstructured.NestedString(object.Object, "spec", "contents")
					if want := "stages:\n  initramfs:\n  - commands:\n" + tc.contents; text != want {
						t.Errorf("%s: got %q", tc.reason, text)
					}
					continue
				}
				roles[object.GetLabels()["machineconfiguration.openshift.io/role"]] = object.GetName()
				files, _, _ := unstructured.NestedSlice(object.Object, "spec", "config", "storage", "files")
				if source, _, _ := unstructured.NestedString(files[0].(map[string]any), "contents", "source"); source != tc.source {
					t.Errorf("%s: got %q", tc.reason, source)
				}
			}
			want := map[string]string{"master": "99-master-ceph-" + tc.driver.Kind + "-csi-modules", "worker": "99-worker-ceph-" + tc.driver.Kind + "-csi-modules"}
			if diff := cmp.Diff(want, roles); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingOfModulesUnasked(t *testing.T) {
	for name, settings := range map[string]func() (driver.Settings, error){
		"Default":   func() (driver.Settings, error) { return driver.Settings{}, nil },
		"Undecided": func() (driver.Settings, error) { return driver.Settings{}, errors.New("no") },
	} {
		got, err := kernelModules{wishing(t, driver.RBD, settings)}.wanted()
		if got.asked || len(got.items) > 0 || (name == "Undecided") != errors.Is(err, errUndecided) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// TestPoliciesWaitForSnapshotClasses: an operator that has just started must not take the names of
// snapshot classes out of a policy until it has read them.
func TestPoliciesWaitForSnapshotClasses(t *testing.T) {
	r := newGateRig(t)
	r.served = map[string][]string{dataSources.String(): {"v1beta1"}, snapshotClasses.crd(): {"v1"}}
	answer := make(chan struct{})
	r.client.PrependReactor("list", snapshotClasses.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		<-answer
		return false, nil, nil
	})
	defer close(answer)
	r.sync(t)
	on := func() (driver.Settings, error) { return driver.Settings{ImageProtection: driver.ImagesProtected}, nil }
	config := wishing(t, driver.RBD, on, dataSources.String())
	config.Watches = r.config.Watches
	if got, err := (imageProtection{config}).wanted(); !errors.Is(err, errUndecided) {
		t.Errorf("got %s, %v", names(got), err)
	}
}
