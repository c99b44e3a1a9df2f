package inputs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// places are the parameters that name something in Ceph: a class that names what is not there is told of.
var places = map[string][]string{
	driver.RBD.Name:    {"pool", "dataPool"},
	driver.CephFS.Name: {"fsName", "pool"},
}

// oddParameters are values that a place cannot have, or that no place has.
var oddParameters = []string{"nosuch", "a b", "a/b", "-", "日本語", "$(reboot)", "' or 1=1", `"`, "a\nb", "%s%n"}

var _ = Describe("A parameter of a StorageClass of a user's", func() {
	for _, d := range driver.All {
		create := func(ctx context.Context, class string, parameters map[string]string) {
			_, err := env.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: d.Name, Parameters: parameters,
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		remove := func(ctx context.Context, class string) {
			Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, class, metav1.DeleteOptions{})).To(Succeed())
		}

		It("that names no place is told of, and of the class alone: "+d.Name, func(ctx SpecContext) {
			class := "odd-" + d.Kind
			before := standing(ctx, Default, d)
			own := before["parameters"].(map[string]string)
			for _, name := range places[d.Name] {
				for _, value := range oddParameters {
					By(name + ": " + value)
					parameters := maps.Clone(own)
					parameters[name] = value
					create(ctx, class, parameters)
					said := told(ctx, d, condition.StorageClassesUsable, operatorv1.ConditionFalse, class)
					Expect(said.Reason).To(Equal(condition.PlaceMissing), said.Message)
					remove(ctx, class)
					told(ctx, d, condition.StorageClassesUsable, operatorv1.ConditionTrue)
				}
			}
			env.Settle(ctx)
			Expect(standing(ctx, Default, d)).To(Equal(before))
		})

		It("whatever it is, harms nothing else: "+d.Name, func(ctx SpecContext) {
			before := standing(ctx, Default, d)
			own := before["parameters"].(map[string]string)
			names := append(slices.Sorted(maps.Keys(own)), "nosuch", "radosNamespace", "encryptionKMSID", "mounter", "monValueFromSecret", "csi.storage.k8s.io/fstype")
			type odd struct{ name, value string }
			var all []odd
			for _, name := range names {
				for _, value := range append([]string{"", " "}, oddParameters...) {
					all = append(all, odd{name, value})
				}
			}
			tried := some(all, 5)
			class := func(i int) string { return fmt.Sprintf("odd-%s-%d", d.Kind, i) }
			for i, one := range tried {
				By(class(i) + ": " + one.name + ": " + one.value)
				parameters := maps.Clone(own)
				parameters[one.name] = one.value
				create(ctx, class(i), parameters)
			}
			env.Rest(ctx)
			Expect(env.Operator(d).Exited()).To(Succeed())
			Expect(standing(ctx, Default, d)).To(Equal(before))
			for i := range tried {
				remove(ctx, class(i))
			}
			env.Rest(ctx)
			told(ctx, d, condition.StorageClassesUsable, operatorv1.ConditionTrue)
			env.Settle(ctx)
			Expect(standing(ctx, Default, d)).To(Equal(before))
		})
	}
})
