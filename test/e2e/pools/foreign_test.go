package pools

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// strangers are the forms of CSIDrivers of those who deploy ceph-csi otherwise.
var strangers = []struct {
	what                string
	annotations, labels map[string]string
	client              string
	named               string
}{
	{what: "hand-made", named: "belongs to"},
	{what: "hand-made by kubectl apply", annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}, named: "kubectl apply"},
	{what: "Helm's", labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		annotations: map[string]string{"meta.helm.sh/release-name": "ceph-csi", "meta.helm.sh/release-namespace": "storage"}, named: "Helm release storage/ceph-csi"},
	{what: "Rook's", client: "rook", named: "belongs to"},
	{what: "ceph-csi-operator's", annotations: map[string]string{"csi.ceph.io/ownerref": `{"namespace":"rook-ceph","name":"rbd.csi.ceph.com"}`},
		named: "ceph-csi-operator's Driver rook-ceph/rbd.csi.ceph.com"},
}

func createForeign(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	_, err := env.Kube.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: d.Name}, Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(true)},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// foreign changes the marks of the CSIDrivers in place: deleting one lets ours start.
func foreign() {
	for _, s := range strangers {
		It("leaves it alone and names its owner: "+s.what, func(ctx SpecContext) {
			for _, d := range driver.All {
				current, err := env.Kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				current.Annotations, current.Labels = s.annotations, s.labels
				marked, err := env.Kube.StorageV1().CSIDrivers().Update(ctx, current, metav1.UpdateOptions{FieldManager: s.client})
				Expect(err).NotTo(HaveOccurred())
				says(ctx, d, "Disabled", operatorv1.ConditionTrue, "ForeignCSIDriver", "CSIDriver "+d.Name+" ", s.named)
				now, err := env.Kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(now.ResourceVersion).To(Equal(marked.ResourceVersion))
			}
		})
	}

	It("still looks after the mon addresses, and leaves open where subvolumes will be", func(ctx SpecContext) {
		mons := env.MonAddresses(ctx)
		Eventually(func(g Gomega) {
			entries := env.ConfigJSON(ctx, g, driver.RBD)
			g.Expect(entries).To(HaveLen(1))
			g.Expect(entries[0].Monitors).To(ConsistOf(mons))
		}).WithContext(ctx).Should(Succeed())
		_, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, driver.CephFS.ConfigSecret(), metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "nobody reads it yet: %v", err)
	})

	It("still looks after the pools in use", func(ctx SpecContext) {
		newPool(ctx, "theirs")
		newClass(ctx, driver.RBD, "theirs", map[string]string{"pool": "theirs"})
		newClass(ctx, driver.RBD, "theirs-typo", map[string]string{"pool": "thiers"})
		newClass(ctx, driver.CephFS, "theirs-fs", map[string]string{"fsName": "myfs"})
		protected(ctx, "theirs", rbdUser)
		protected(ctx, "myfs-data", cephFSUser)
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "theirs-typo", `"thiers"`)
		for _, d := range driver.All {
			_, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, d.ControllerName(), metav1.GetOptions{})
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), "nothing of ours is deployed: %v", err)
			Expect(pool(ctx, Default, infraID+"-rbd").Name).To(BeEmpty(), "nor is our own pool made")
		}
		deleteClass(ctx, "theirs-typo")
		deleteClass(ctx, "theirs-fs")
	})

	It("deploys ours once it is removed", func(ctx SpecContext) {
		for _, d := range driver.All {
			Expect(env.Kube.StorageV1().CSIDrivers().Delete(ctx, d.Name, metav1.DeleteOptions{})).To(Succeed())
		}
		env.Settle(ctx)
		protected(ctx, "theirs", rbdUser)
		deleteClass(ctx, "theirs")
		released(ctx, "theirs")
	})
}
