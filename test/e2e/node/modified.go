package node

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// modifications are what VolumeAttributesClasses may say of each driver's volumes, in the order in which they are asked for.
var modifications = map[string][]map[string]string{
	driver.RBD.Name:    {{"maxReadIops": "1000"}, {"maxReadIops": "2000", "maxWriteBps": "104857600"}},
	driver.CephFS.Name: {{"mds-pin-export": "0"}, {"mds-pin-distributed": "1"}},
}

// Modified has volumes whose attributes change.
func Modified() {
	It("modifies RBD and CephFS volumes as their VolumeAttributesClasses say", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			for i, parameters := range modifications[d.Name] {
				_, err := env.Kube.StorageV1().VolumeAttributesClasses().Create(ctx, &storagev1.VolumeAttributesClass{
					ObjectMeta: metav1.ObjectMeta{Name: attributesClass(d, i)}, DriverName: d.Name, Parameters: parameters,
				}, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			modified := claimed{name: "modified-" + d.Kind, class: d.StorageClass, attributes: attributesClass(d, 0)}
			claim(ctx, modified)
			expectBound(ctx, modified.name)
			expectAttributes(ctx, modified.name, modified.attributes)
			modify(ctx, modified.name, attributesClass(d, 1))
		})
	})
}

func attributesClass(d driver.Driver, which int) string {
	return fmt.Sprintf("attributes-%s-%d", d.Kind, which)
}

func modify(ctx context.Context, name, class string) {
	GinkgoHelper()
	begin := time.Now()
	patch := []byte(`{"spec":{"volumeAttributesClassName":"` + class + `"}}`)
	_, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
	expectAttributes(ctx, name, class)
	figure(name+" modified", begin)
}

func expectAttributes(ctx context.Context, name, class string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Status.CurrentVolumeAttributesClassName).To(HaveValue(Equal(class)), "%s: %+v", name, c.Status)
	}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(Succeed())
}
