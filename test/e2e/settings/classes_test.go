package settings

import (
	"context"
	"encoding/json"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const isDefault = "storageclass.kubernetes.io/is-default-class"

// annotate sets annotations of a StorageClass as an administrator; nil removes one.
func annotate(ctx context.Context, d driver.Driver, annotations map[string]any) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Kube.StorageV1().StorageClasses().Patch(ctx, d.StorageClass, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("Settings", func() {
	type settings = map[string]any
	DescribeTable("are parameters of the StorageClass", func(ctx SpecContext, d driver.Driver, member settings, want map[string]string, choice string) {
		before := class(ctx, Default, d)
		mine := before.Annotations[isDefault]
		annotate(ctx, d, map[string]any{isDefault: choice, "example.com/mine": "1"})
		DeferCleanup(func(ctx SpecContext) { annotate(ctx, d, map[string]any{isDefault: mine, "example.com/mine": nil}) })
		set(ctx, d, member)
		all := maps.Clone(before.Parameters)
		maps.Copy(all, want)
		Eventually(func(g Gomega) {
			now := class(ctx, g, d)
			g.Expect(now.Parameters).To(Equal(all))
			g.Expect(now.Annotations).To(HaveKeyWithValue(isDefault, choice), "the administrator's choice")
			g.Expect(now.Annotations).To(HaveKeyWithValue("example.com/mine", "1"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())

		_, err := env.Configure(ctx, d, settings{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			now := class(ctx, g, d)
			g.Expect(now.Parameters).To(Equal(before.Parameters), "the defaults again")
			g.Expect(now.Annotations).To(HaveKeyWithValue(isDefault, choice), "the administrator's choice")
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	},
		Entry("RBD", driver.RBD,
			settings{"imageFeatures": "exclusive-lock,journaling", "mounter": "rbd-nbd", "mapOptions": "nbd:io-timeout=330"},
			map[string]string{"imageFeatures": "exclusive-lock,journaling", "mounter": "rbd-nbd", "mapOptions": "nbd:io-timeout=330"}, "false"),
		Entry("CephFS", driver.CephFS,
			settings{"mounter": "kernel", "kernelMountOptions": "ms_mode=prefer-crc", "fuseMountOptions": "debug"},
			map[string]string{"mounter": "kernel", "kernelMountOptions": "ms_mode=prefer-crc", "fuseMountOptions": "debug"}, "true"),
	)

	It("survive what the operator itself writes into the spec", func(ctx SpecContext) {
		d := driver.RBD
		set(ctx, d, settings{"mapOptions": "krbd:rxbounce"})
		DeferCleanup(env.Cluster.SetTLSProfile, (*configv1.TLSSecurityProfile)(nil))
		Expect(env.Cluster.SetTLSProfile(ctx, &configv1.TLSSecurityProfile{Type: configv1.TLSProfileOldType, Old: &configv1.OldTLSProfile{}})).To(Succeed())
		Eventually(func(g Gomega) {
			cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(cr.Spec.ObservedConfig.Raw)).To(ContainSubstring("VersionTLS10"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Expect(member(ctx, Default, d)).To(Equal(settings{"mapOptions": "krbd:rxbounce"}))
	})
})
