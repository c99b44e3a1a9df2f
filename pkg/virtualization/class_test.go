package virtualization

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	savedstate "github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func storageClass(name string, change func(*storagev1.StorageClass)) *storagev1.StorageClass {
	out := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}},
		Provisioner: driver.RBD.Name, AllowVolumeExpansion: ptr.To(true), MountOptions: []string{"discard"},
		Parameters: map[string]string{"pool": "p"},
	}
	if change != nil {
		change(out)
	}
	return out
}

func TestDecideClass(t *testing.T) {
	asset := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name: "v", Labels: map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()},
			Annotations: map[string]string{defaultForMachines: "true"},
		},
		Parameters: map[string]string{"mounter": "rbd", "mapOptions": "krbd:rxbounce"},
	}
	base := storageClass("b", func(c *storagev1.StorageClass) { c.Annotations = map[string]string{"not": "inherited"} })
	wanted := storageClass("v", func(c *storagev1.StorageClass) {
		c.Annotations = asset.Annotations
		c.Parameters = map[string]string{"pool": "p", "mounter": "rbd", "mapOptions": "krbd:rxbounce"}
	})
	with := func(class *storagev1.StorageClass, change func(*storagev1.StorageClass)) *storagev1.StorageClass {
		out := class.DeepCopy()
		change(out)
		return out
	}
	edited := func(c *storagev1.StorageClass) {
		c.Annotations = map[string]string{defaultForMachines: "false", "mine": "1"}
	}
	tests := map[string]struct {
		reason string
		facts  classFacts
		step   step
		want   *storagev1.StorageClass
	}{
		"Missing": {reason: "KubeVirt has come", facts: classFacts{base: base}, step: create, want: wanted},
		"Journal": {
			reason: "ceph-csi refuses images with a journal for the kernel", step: create,
			facts: classFacts{base: with(base, func(c *storagev1.StorageClass) {
				maps.Copy(c.Parameters, map[string]string{"mounter": "rbd-nbd", "imageFeatures": "layering,exclusive-lock,journaling"})
			})},
			want: with(wanted, func(c *storagev1.StorageClass) { c.Parameters["imageFeatures"] = "layering,exclusive-lock" }),
		},
		"Taken": {
			reason: "another class is the default one", facts: classFacts{base: base, taken: true}, step: create,
			want: with(wanted, func(c *storagev1.StorageClass) { c.Annotations = map[string]string{} }),
		},
		"NoBase":      {reason: "nothing tells the pool", facts: classFacts{}},
		"ForeignBase": {reason: "its pool is nobody's to guess", facts: classFacts{base: with(base, func(c *storagev1.StorageClass) { c.Labels = nil })}},
		"Foreign":     {reason: "it is somebody else's", facts: classFacts{base: base, existing: storageClass("v", func(c *storagev1.StorageClass) { c.Labels = nil })}},
		"Same":        {reason: "idle means idle", facts: classFacts{base: base, existing: wanted}},
		"Edited":      {reason: "the choice of the default class is the user's", facts: classFacts{base: base, existing: with(wanted, edited)}},
		"Moved": {
			reason: "parameters cannot be changed in place; annotations survive",
			facts: classFacts{
				base:     with(base, func(c *storagev1.StorageClass) { c.Parameters["pool"] = "q" }),
				existing: with(wanted, edited),
			},
			step: replace, want: with(with(wanted, edited), func(c *storagev1.StorageClass) { c.Parameters["pool"] = "q" }),
		},
		"Expansion": {
			reason: "this can be changed in place",
			facts:  classFacts{base: base, existing: with(wanted, func(c *storagev1.StorageClass) { c.AllowVolumeExpansion = nil })},
			step:   update, want: wanted,
		},
		"Unmanaged": {reason: "it is left to the user", facts: classFacts{base: base, state: operatorv1.UnmanagedStorageClass}},
		"Back": {
			reason: "what users gave it has been remembered", step: create, want: with(wanted, edited),
			facts: classFacts{base: base, taken: true, last: savedstate.ClassOf(with(wanted, func(c *storagev1.StorageClass) {
				edited(c)
				c.UID = "u"
			}))},
		},
		"BackSecond": {
			reason: "another class has become the default one meanwhile", step: create,
			want:  with(wanted, func(c *storagev1.StorageClass) { c.Annotations = map[string]string{} }),
			facts: classFacts{base: base, taken: true, last: savedstate.ClassOf(with(wanted, func(c *storagev1.StorageClass) { c.UID = "u" }))},
		},
		"BackElsewhere": {
			reason: "a mark that was given stays", step: create, want: wanted,
			facts: classFacts{base: base, elsewhere: true, last: savedstate.ClassOf(with(wanted, func(c *storagev1.StorageClass) { c.UID = "u" }))},
		},
		"SameElsewhere": {reason: "a mark that was given stays", facts: classFacts{base: base, existing: wanted, elsewhere: true}},
		"Removed":       {reason: "it goes with the default class", facts: classFacts{existing: wanted, state: operatorv1.RemovedStorageClass}, step: remove, want: wanted},
		"Gone":          {reason: "it is not made again", facts: classFacts{base: base, state: operatorv1.RemovedStorageClass}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.facts.driver, tc.facts.asset = driver.RBD, asset
			step, got := decideClass(tc.facts)
			if step != tc.step {
				t.Errorf("%s: got step %d, want %d", tc.reason, step, tc.step)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFirstDefaultForMachines: other is a StorageClass that is there when the operator comes to decide.
func TestFirstDefaultForMachines(t *testing.T) {
	asset := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "v", Annotations: map[string]string{defaultForMachines: "true"}}}
	tests := map[string]struct {
		reason, provisioner, mark, value string
		want                             string
	}{
		"Alone":            {reason: "nobody chose another", want: "true"},
		"OtherDriver":      {reason: "CDI would import all images anew, away from the class that somebody chose", provisioner: "other", mark: defaultForAll, value: "true"},
		"OtherDriverNot":   {reason: "it is not the default one", provisioner: "other", mark: defaultForAll, value: "false", want: "true"},
		"SameDriver":       {reason: "it lacks what virtual machines need, as the driver's own default class does", provisioner: driver.RBD.Name, mark: defaultForAll, value: "true", want: "true"},
		"OtherForMachines": {reason: "there can be one", provisioner: driver.RBD.Name, mark: defaultForMachines, value: "true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			other := storageClass("o", func(c *storagev1.StorageClass) {
				c.Provisioner, c.Annotations = tc.provisioner, map[string]string{tc.mark: tc.value}
			})
			base := storageClass(driver.RBD.StorageClass, func(c *storagev1.StorageClass) { c.Annotations = map[string]string{defaultForAll: "true"} })
			classes := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().StorageClasses()
			for _, class := range []*storagev1.StorageClass{base, other} {
				if err := classes.Informer().GetStore().Add(class); err != nil {
					t.Fatal(err)
				}
			}
			managed := func() (operatorv1.StorageClassStateName, error) { return operatorv1.ManagedStorageClass, nil }
			facts, err := classController{asset: asset, ClassConfig: ClassConfig{
				Config: Config{Env: ctrl.Env{Driver: driver.RBD, StorageClasses: classes}, Watches: &Watches{}}, State: managed, Record: &memory{},
			}}.gather()
			if err != nil {
				t.Fatal(err)
			}
			step, got := decideClass(facts)
			if step != create || got.Annotations[defaultForMachines] != tc.want {
				t.Errorf("%s: got step %d, %v, want %q", tc.reason, step, got, tc.want)
			}
		})
	}
}
