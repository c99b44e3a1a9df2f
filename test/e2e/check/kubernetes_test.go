package check

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func kubernetesCluster() {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

	It("names the owner of a CSIDriver that is somebody else's", func(ctx SpecContext) {
		csiDrivers := env.Kube.StorageV1().CSIDrivers()
		_, err := csiDrivers.Create(ctx, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{
			Name:        driver.RBD.Name,
			Annotations: map[string]string{"meta.helm.sh/release-name": "ceph", "meta.helm.sh/release-namespace": "apps"},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(csiDrivers.Delete(ctx, driver.RBD.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		r := report(ctx, append(admin(), kubeconfig())...)
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(Equal([]string{"Kubernetes/CSIDriver " + driver.RBD.Name}))
		Expect(r.line("Kubernetes", "CSIDriver "+driver.RBD.Name).Message).To(ContainSubstring("Helm release apps/ceph"))
	})

	It("finds the pool that a StorageClass names and Ceph lacks", func(ctx SpecContext) {
		classes := env.Kube.StorageV1().StorageClasses()
		_, err := classes.Create(ctx, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "typo"}, Provisioner: driver.RBD.Name,
			Parameters: map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "pool": "vmss"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(classes.Delete(ctx, "typo", metav1.DeleteOptions{})).To(Succeed())
		})
		r := report(ctx, append(admin(), kubeconfig())...)
		Expect(r.wrong()).To(Equal([]string{"Kubernetes/StorageClass typo"}))
		Expect(r.line("Kubernetes", "StorageClass typo").Fix).To(HaveExactElements(
			"ceph osd pool create vmss", "ceph osd pool application enable vmss rbd"))
	})

	It("accepts the Secret once it has the files, and not another user", func(ctx SpecContext) {
		env.Declare(ctx, env.Credentials())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.Kube.CoreV1().Secrets(driver.Namespace).Delete(ctx, driver.CredentialsSecret, metav1.DeleteOptions{})).To(Succeed())
		})
		const name = "Secret " + driver.CredentialsSecret
		Expect(report(ctx, append(admin(), kubeconfig())...).line("Kubernetes", name).State).To(Equal("ok"))
		other := report(ctx, append(as(ctx, "other", "mon", "allow r"), kubeconfig())...).line("Kubernetes", name)
		Expect(other.State).To(Equal("note"))
		Expect(other.Message).To(ContainSubstring("client.admin, not client.other"))
	})

	It("misses the CRDs of snapshots", func(ctx SpecContext) {
		const name = "volumesnapshots.snapshot.storage.k8s.io"
		original, err := env.Dynamic.Resource(crds).Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(env.Dynamic.Resource(crds).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			r := report(ctx, append(admin(), kubeconfig())...)
			g.Expect(r.wrong()).To(Equal([]string{"Kubernetes/snapshots"}))
			g.Expect(r.line("Kubernetes", "snapshots").Message).To(ContainSubstring(name))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		again := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": original.Object["spec"],
			"metadata": map[string]any{"name": name, "annotations": original.Object["metadata"].(map[string]any)["annotations"]},
		}}
		_, err = env.Dynamic.Resource(crds).Create(ctx, again, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})

	It("tells whether a snapshot-controller answers, by its lease or by its Deployment", func(ctx SpecContext) {
		const name = "snapshot-controller"
		env.StopSnapshotController(ctx)
		DeferCleanup(env.StartSnapshotController)
		Expect(report(ctx, append(admin(), kubeconfig())...).wrong()).To(Equal([]string{"Kubernetes/" + name}))
		leases := env.Kube.CoordinationV1().Leases(metav1.NamespaceSystem)
		lease, err := leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-leader"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](137), RenewTime: &metav1.MicroTime{Time: time.Now()},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(leases.Delete(ctx, lease.Name, metav1.DeleteOptions{})).To(Succeed()) })
		r := report(ctx, append(admin(), kubeconfig())...)
		Expect(r.wrong()).To(BeEmpty())
		Expect(r.line("Kubernetes", name).Message).To(ContainSubstring("somebody holds the lease in namespace kube-system"))
		lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-time.Hour)}
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(report(ctx, append(admin(), kubeconfig())...).line("Kubernetes", name).Message).To(ContainSubstring("too long ago"))
	})

	It("says when the API server does not answer, and looks at Ceph all the same", func(ctx SpecContext) {
		file := deadKubeconfig(env.Cluster.AdminKubeconfig())
		r := report(ctx, append(admin(), "--kubeconfig="+file)...)
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(Equal([]string{"Kubernetes/API server"}))
		Expect(r.line("Ceph", "connection").State).To(Equal("ok"))
	})
}
