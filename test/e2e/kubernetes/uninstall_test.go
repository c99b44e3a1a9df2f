package kubernetes

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// expectRefusedForImage has a disk image on a StorageClass of ours, for a moment.
func expectRefusedForImage(ctx context.Context) {
	GinkgoHelper()
	all := env.Dynamic.Resource(fixture.MachineImages).Namespace(metav1.NamespaceDefault)
	_, err := all.Create(ctx, fixture.Read([]byte(`{apiVersion: harvesterhci.io/v1beta1, kind: VirtualMachineImage, metadata: {name: fedora},
		spec: {targetStorageClassName: `+driver.RBD.StorageClass+`}}`)), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	out, err := env.Command(ctx, "uninstall", "--yes")
	Expect(err).To(HaveOccurred(), out)
	Expect(out).To(And(ContainSubstring("while the VirtualMachineImages default/fedora use it"), Not(ContainSubstring("Will remove"))))
	Expect(all.Delete(ctx, "fedora", metav1.DeleteOptions{})).To(Succeed())
}

func uninstalled() {
	It("leaves nothing behind but the Ceph pools, and Harvester as it was", func(ctx SpecContext) {
		others := harvester(ctx)
		expectMonitored(ctx)
		expectWritten(ctx)
		expectRefusedForImage(ctx)
		env.AwaitProtectedPools(ctx)
		replaceMons(ctx)
		// The processes end after their pods.
		env.Lawless(time.Now(), time.Time{})
		out, err := env.Command(ctx, "uninstall", "--yes")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("Released the pools"), ContainSubstring("kubectl delete -f "+manifests), Not(ContainSubstring("cluster version operator"))))
		Expect(env.ProtectedPools(ctx, Default)).To(BeEmpty(), "the Secret has none of the mons")
		Eventually(func(g Gomega) { g.Expect(env.LeftOvers(ctx, g)).To(BeEmpty()) }).WithContext(ctx).Should(Succeed())
		others.ExpectUntouched(ctx)
		id, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(id.Status.InfrastructureName).NotTo(BeEmpty(), "a later installation finds its volumes by it")

		deleteManifests(ctx)
	})
}
