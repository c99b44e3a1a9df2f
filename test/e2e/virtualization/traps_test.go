package virtualization

import (
	"context"
	_ "embed"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// refusals are ValidatingAdmissionPolicies that refuse what Harvester's webhook of StorageClasses
// refuses, as far as they can see it.
//
//go:embed testdata/refusals.yaml
var refusals string

// startWebhook refuses until the spec ends, and from when it first does.
func startWebhook(ctx context.Context) {
	GinkgoHelper()
	for _, manifest := range strings.Split(refusals, "---\n") {
		object := fixture.Read([]byte(manifest))
		all := env.Dynamic.Resource(policies)
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			all = env.Dynamic.Resource(policyNames)
		}
		DeferCleanup(func(ctx SpecContext) { Expect(all.Delete(ctx, object.GetName(), metav1.DeleteOptions{})).To(Succeed()) })
		_, err := all.Create(ctx, object, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	second := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "second", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "driver.longhorn.io",
	}
	unknown := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "unknown"}, Provisioner: "nobody.knows"}
	for text, class := range map[string]*storagev1.StorageClass{"default storage class already exists": second, "is not supported by CDI": unknown} {
		Eventually(func() error {
			_, err := env.Kube.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(MatchError(ContainSubstring(text)))
	}
}

// useClass is an image of Harvester on a StorageClass, until the spec ends.
func useClass(ctx context.Context, name, class string) {
	GinkgoHelper()
	disk(ctx, images, "VirtualMachineImage", name, nil, map[string]any{"targetStorageClassName": class})
	Eventually(func() error {
		return env.Kube.StorageV1().StorageClasses().Delete(ctx, class, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(MatchError(ContainSubstring("used by VirtualMachineImage")))
}

// expectRemovalHeld has images use both StorageClasses when these are to be removed, for as long
// as that takes to be told.
func expectRemovalHeld(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	By("removing classes that images use")
	state := func(ctx context.Context, state operatorv1.StorageClassStateName) {
		GinkgoHelper()
		patchDriver(ctx, d, `{"storageClassState":"`+string(state)+`"}`)
	}
	DeferCleanup(state, operatorv1.ManagedStorageClass)
	using := map[string]string{"still-on-default": d.StorageClass, "still-on-machines": machineClass}
	for image, name := range using {
		useClass(ctx, image, name)
	}
	held := class(ctx, Default, d.StorageClass)
	state(ctx, operatorv1.RemovedStorageClass)
	for _, image := range []string{"still-on-default", "still-on-machines"} {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
			g.Expect(c.Reason).To(Equal(condition.StorageClassInUseByImages), c.Message)
			g.Expect(c.Message).To(ContainSubstring("StorageClass %s stays although spec.storageClassState is Removed: Harvester lets nobody delete it "+
				"while the VirtualMachineImages default/%s use it", using[image], image))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
	Consistently(func(g Gomega) {
		g.Expect(fixture.Complaints(env.Conditions(ctx, g, d))).To(BeEmpty(), "nothing is broken")
	}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
	Expect(class(ctx, Default, d.StorageClass).UID).To(Equal(held.UID))
	for image, name := range using {
		Expect(env.Dynamic.Resource(images).Namespace(imagesNamespace).Delete(ctx, image, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(class(ctx, g, name)).To(BeNil()) }).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed(), name+" follows")
	}
	expectNotHeld(ctx, d)
	state(ctx, operatorv1.ManagedStorageClass)
	for _, name := range using {
		Eventually(func(g Gomega) { g.Expect(class(ctx, g, name)).NotTo(BeNil()) }).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed(), name+" is back")
	}
}

// expectNotHeld waits until no class is held by images any more.
func expectNotHeld(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(env.Condition(ctx, g, d, condition.VirtualMachinesUsable).Message).NotTo(ContainSubstring("VirtualMachineImages"))
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

var _ = Describe("What Harvester's webhook refuses", func() {
	It("is not tried, or told with a reason", func(ctx SpecContext) {
		d := driver.RBD
		const isDefault, theirs = "storageclass.kubernetes.io/is-default-class", "harvester-longhorn"
		DeferCleanup(func(ctx SpecContext) {
			// Policies are in force for a moment after they are deleted.
			Eventually(func(g Gomega) {
				deleteClass(ctx, theirs)
				_, err := env.Kube.StorageV1().StorageClasses().Patch(ctx, d.StorageClass, types.MergePatchType,
					[]byte(`{"metadata":{"annotations":{"`+isDefault+`":"true"}}}`), metav1.PatchOptions{FieldManager: "kubectl-annotate"})
				g.Expect(err).NotTo(HaveOccurred())
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			env.Settle(ctx)
		})
		startKubeVirt(ctx)
		startHarvester(ctx)
		env.Install(ctx, fixture.Shapeless(images, "VirtualMachineImage", "Namespaced"))
		Eventually(func(g Gomega) { g.Expect(class(ctx, g, machineClass)).NotTo(BeNil()) }).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		startWebhook(ctx)

		By("making a class anew that images use")
		useClass(ctx, "on-default", d.StorageClass)
		useClass(ctx, "on-machines", machineClass)
		tune(ctx, d, `{"mapOptions":"krbd:ms_mode=prefer-crc"}`)
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
			g.Expect(c.Reason).To(Equal(condition.StorageClassInUseByImages), c.Message)
			g.Expect(c.Message).To(ContainSubstring("VirtualMachineImages default/on-default"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Expect(class(ctx, Default, d.StorageClass).Parameters).NotTo(HaveKey("mapOptions"))
		Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty(), "what was there goes on")
		Expect(env.Dynamic.Resource(images).Namespace(imagesNamespace).Delete(ctx, "on-default", metav1.DeleteOptions{})).To(Succeed())
		expectTold(ctx, d, condition.VirtualMachinesUsable, "False", condition.StorageClassInUseByImages)
		Expect(env.Dynamic.Resource(images).Namespace(imagesNamespace).Delete(ctx, "on-machines", metav1.DeleteOptions{})).To(Succeed())
		for _, name := range []string{d.StorageClass, machineClass} {
			Eventually(func(g Gomega) {
				held := class(ctx, g, name)
				g.Expect(held).NotTo(BeNil())
				g.Expect(held.Parameters["mapOptions"]).To(ContainSubstring("ms_mode=prefer-crc"))
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed(), name+" follows")
		}
		expectNotHeld(ctx, d)
		expectRemovalHeld(ctx, d)

		By("a second default class")
		longhorn := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: theirs}, Provisioner: "driver.longhorn.io"}
		all := env.Kube.StorageV1().StorageClasses()
		_, err := all.Create(ctx, longhorn, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		annotate(ctx, d.StorageClass, `{"`+isDefault+`":"false"}`)
		// A policy sees a moment later what is no longer the default class.
		Eventually(func(g Gomega) {
			_, err := all.Patch(ctx, longhorn.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+isDefault+`":"true"}}}`), metav1.PatchOptions{})
			g.Expect(err).NotTo(HaveOccurred())
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		deleteClass(ctx, d.StorageClass)
		Eventually(func(g Gomega) {
			held := class(ctx, g, d.StorageClass)
			g.Expect(held).NotTo(BeNil())
			g.Expect(held.Annotations).To(HaveKeyWithValue(isDefault, "false"))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())

		By("a class that the webhook refuses for whatever reason")
		accept(ctx, "false")
		Eventually(func(g Gomega) {
			deleteClass(ctx, machineClass)
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
			g.Expect(c.Reason).To(Equal(condition.AdmissionRefused), c.Message)
			g.Expect(c.Message).To(ContainSubstring("is not supported by CDI"))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())

		By("a webhook that was mended")
		accept(ctx, "true")
		Eventually(func(g Gomega) { g.Expect(class(ctx, g, machineClass)).NotTo(BeNil()) }).
			WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})
})

// accept replaces what the webhook asks of a StorageClass's provisioner.
func accept(ctx context.Context, expression string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		policy, err := env.Dynamic.Resource(policies).Get(ctx, "unknown-provisioner", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		validations, _, _ := unstructured.NestedSlice(policy.Object, "spec", "validations")
		validations[0].(map[string]any)["expression"] = expression
		g.Expect(unstructured.SetNestedSlice(policy.Object, validations, "spec", "validations")).To(Succeed())
		_, err = env.Dynamic.Resource(policies).Update(ctx, policy, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}
