package tuning

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const isDefault = "storageclass.kubernetes.io/is-default-class"

func storageClass(ctx context.Context, d driver.Driver) (*storagev1.StorageClass, error) {
	return env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
}

func deleteStorageClass(ctx context.Context, name string) {
	GinkgoHelper()
	err := env.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
}

// exists waits for the class; with another UID than the given one, if any.
func exists(ctx context.Context, d driver.Driver, than *storagev1.StorageClass) *storagev1.StorageClass {
	GinkgoHelper()
	var class *storagev1.StorageClass
	Eventually(func(g Gomega) {
		var err error
		class, err = storageClass(ctx, d)
		g.Expect(err).NotTo(HaveOccurred())
		if than != nil {
			g.Expect(class.UID).NotTo(Equal(than.UID))
		}
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	return class
}

func gone(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	Eventually(func() bool {
		_, err := storageClass(ctx, d)
		return apierrors.IsNotFound(err)
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(BeTrue())
}

var _ = Describe("The StorageClass", func() {
	state := func(ctx context.Context, d driver.Driver, wanted operatorv1.StorageClassStateName) {
		env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.StorageClassState = wanted })
	}

	for _, d := range driver.All {
		It("goes with storageClassState Removed and comes back the same: "+d.Name, func(ctx SpecContext) {
			DeferCleanup(state, d, operatorv1.StorageClassStateName(""))
			before := exists(ctx, d, nil)
			state(ctx, d, operatorv1.RemovedStorageClass)
			gone(ctx, d)
			state(ctx, d, operatorv1.ManagedStorageClass)
			Expect(exists(ctx, d, before).Parameters).To(Equal(before.Parameters))
		})

		It("is nobody's business with storageClassState Unmanaged: "+d.Name, func(ctx SpecContext) {
			DeferCleanup(state, d, operatorv1.StorageClassStateName(""))
			before := exists(ctx, d, nil)
			state(ctx, d, operatorv1.UnmanagedStorageClass)
			// Until the operator has seen the new state, it brings the class back.
			Eventually(func(g Gomega) {
				deleteStorageClass(ctx, d.StorageClass)
				g.Consistently(func() bool {
					_, err := storageClass(ctx, d)
					return apierrors.IsNotFound(err)
				}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(BeTrue())
			}).WithContext(ctx).Should(Succeed())
			state(ctx, d, operatorv1.ManagedStorageClass)
			Expect(exists(ctx, d, before).Parameters).To(Equal(before.Parameters))
		})
	}

	It("is not a second default", func(ctx SpecContext) {
		d := driver.RBD
		before := exists(ctx, d, nil)
		Expect(before.Annotations).To(HaveKeyWithValue(isDefault, "true"))
		_, err := env.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: "administrators-choice", Annotations: map[string]string{isDefault: "true"}},
			Provisioner: "example.com/other",
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(deleteStorageClass, "administrators-choice")
		deleteStorageClass(ctx, d.StorageClass)
		second := exists(ctx, d, before)
		Expect(second.Annotations).To(HaveKeyWithValue(isDefault, "false"))

		deleteStorageClass(ctx, "administrators-choice")
		deleteStorageClass(ctx, d.StorageClass)
		Expect(exists(ctx, d, second).Annotations).To(HaveKeyWithValue(isDefault, "true"))
	})
})
