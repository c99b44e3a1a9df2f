package virtualization

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var machineConfigs, cloudInits = fixture.MachineConfigs, fixture.CloudInits

// expectBound waits until an operator has bound a role of a feature to itself, or has it no more.
func expectBound(ctx context.Context, role string, bound bool) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		_, err := env.Kube.RbacV1().ClusterRoleBindings().Get(ctx, role, metav1.GetOptions{})
		if bound {
			g.Expect(err).NotTo(HaveOccurred())
		} else {
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s: %v", role, err)
		}
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

// expectRightsOnPlatforms waits until both operators have those, or have given them back.
func expectRightsOnPlatforms(ctx context.Context, held bool) {
	GinkgoHelper()
	for _, d := range driver.All {
		expectBound(ctx, d.MachinesRole(), held)
	}
}

// namesOf are those of all objects of a kind.
func namesOf(ctx context.Context, g Gomega, of schema.GroupVersionResource) []string {
	all, err := env.Dynamic.Resource(of).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, object := range all.Items {
		out = append(out, object.GetName())
	}
	return out
}

// listed is the file with modules in a MachineConfig.
func listed(ctx context.Context, g Gomega, name string) string {
	object, err := env.Dynamic.Resource(machineConfigs).Get(ctx, name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	files, _, err := unstructured.NestedSlice(object.Object, "spec", "config", "storage", "files")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(1))
	source, _, _ := unstructured.NestedString(files[0].(map[string]any), "contents", "source")
	return source
}

var _ = Describe("Modules of the kernel", func() {
	It("are loaded when nodes start, where that is asked for and possible", func(ctx SpecContext) {
		const nothing = `{"kernelModules":"OnDemand"}`
		rbd, cephFS := driver.RBD, driver.CephFS
		tune(ctx, rbd, `{"kernelModules":"AtBoot"}`)
		expectTold(ctx, rbd, condition.KernelModulesCurrent, "False", condition.NotSupported)
		expectBound(ctx, rbd.ModulesRole(), false)

		By("an OpenShift's MachineConfigs")
		env.Install(ctx, fixture.Shapeless(machineConfigs, "MachineConfig", "Cluster"))
		names := []string{"99-master-ceph-rbd-csi-modules", "99-worker-ceph-rbd-csi-modules"}
		expectListed := func(want string) {
			GinkgoHelper()
			for _, name := range names {
				Eventually(func(g Gomega) { g.Expect(listed(ctx, g, name)).To(Equal(want)) }).
					WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			}
		}
		const both = "data:,rbd%0Anbd%0A"
		expectListed(both)
		expectTold(ctx, rbd, condition.KernelModulesCurrent, "True", condition.AsExpected)
		Expect(namesOf(ctx, Default, machineConfigs)).To(ConsistOf(names), "nothing of the driver that was not asked")
		expectBound(ctx, rbd.ModulesRole(), true)
		expectBound(ctx, cephFS.ModulesRole(), false)
		Expect(env.Kube.RbacV1().ClusterRoleBindings().Delete(ctx, rbd.ModulesRole(), metav1.DeleteOptions{})).To(Succeed())
		expectBound(ctx, rbd.ModulesRole(), true)
		_, err := env.Dynamic.Resource(machineConfigs).Patch(ctx, names[0], types.MergePatchType, []byte(`{"spec":{"config":null}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectListed(both)

		By("switching it off")
		tune(ctx, rbd, nothing)
		Eventually(func(g Gomega) { g.Expect(namesOf(ctx, g, machineConfigs)).To(BeEmpty()) }).
			WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		expectTold(ctx, rbd, condition.KernelModulesCurrent, "", "")
		expectBound(ctx, rbd.ModulesRole(), false)

		By("a Harvester's CloudInits, of which one has our name")
		env.Install(ctx, fixture.Shapeless(cloudInits, "CloudInit", "Cluster"))
		theirs := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"contents": "theirs"}}}
		theirs.SetAPIVersion(cloudInits.GroupVersion().String())
		theirs.SetKind("CloudInit")
		theirs.SetName("ceph-cephfs-csi-modules")
		_, err = env.Dynamic.Resource(cloudInits).Create(ctx, theirs, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		env.Uninstall(ctx, machineConfigs.GroupResource().String())
		tune(ctx, cephFS, `{"kernelModules":"AtBoot"}`)
		expectTold(ctx, cephFS, condition.KernelModulesCurrent, "False", condition.ForeignObject)
		Expect(env.Dynamic.Resource(cloudInits).Delete(ctx, theirs.GetName(), metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			held, err := env.Dynamic.Resource(cloudInits).Get(ctx, theirs.GetName(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			contents, _, _ := unstructured.NestedString(held.Object, "spec", "contents")
			g.Expect(contents).To(Equal("stages:\n  initramfs:\n  - commands:\n    - modprobe ceph\n"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		expectTold(ctx, cephFS, condition.KernelModulesCurrent, "True", condition.AsExpected)
		tune(ctx, cephFS, nothing)
		Eventually(func(g Gomega) { g.Expect(namesOf(ctx, g, cloudInits)).To(BeEmpty()) }).
			WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		env.Settle(ctx)
	})
})
