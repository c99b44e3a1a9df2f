package tuning

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func controllerPods(ctx SpecContext, g Gomega, d driver.Driver) sets.Set[string] {
	names := sets.New[string]()
	for _, p := range env.Pods(ctx, g, d.ControllerName()) {
		names.Insert(p.Name)
	}
	return names
}

// replaced waits until none of the controllers' pods is an earlier one.
func replaced(ctx SpecContext, earlier map[string]sets.Set[string]) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			now := controllerPods(ctx, g, d)
			g.Expect(now).To(HaveLen(2))
			g.Expect(now.Intersection(earlier[d.Name])).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
	}
	env.Settle(ctx)
}

func allControllerPods(ctx SpecContext) map[string]sets.Set[string] {
	out := map[string]sets.Set[string]{}
	for _, d := range driver.All {
		out[d.Name] = controllerPods(ctx, Default, d)
	}
	return out
}

var _ = Describe("The controllers are replaced", func() {
	It("when their serving certificate changes", func(ctx SpecContext) {
		earlier := allControllerPods(ctx)
		for _, d := range driver.All {
			// The service CA makes a new one.
			Expect(env.Kube.CoreV1().Secrets(namespace).Delete(ctx, d.MetricsCertSecret(), metav1.DeleteOptions{})).To(Succeed())
		}
		replaced(ctx, earlier)
	})

	It("when the cluster's trusted CA bundle changes", func(ctx SpecContext) {
		bundle := env.Cluster.TrustedCABundle()
		DeferCleanup(env.Cluster.SetTrustedCABundle, bundle)
		another, err := controlplane.NewAuthority("another-ca")
		Expect(err).NotTo(HaveOccurred())
		earlier := allControllerPods(ctx)
		Expect(env.Cluster.SetTrustedCABundle(ctx, bundle+string(another.PEM()))).To(Succeed())
		replaced(ctx, earlier)
		for _, d := range driver.All {
			controller := env.Controller(ctx, Default, d)
			mounts := fixture.Container(Default, controller.Spec.Template, "csi-driver").VolumeMounts
			Expect(mounts).To(ContainElement(HaveField("MountPath", "/etc/pki/ca-trust/extracted/pem")))
		}

		// The next spec must not meet the way back.
		earlier = allControllerPods(ctx)
		Expect(env.Cluster.SetTrustedCABundle(ctx, bundle)).To(Succeed())
		replaced(ctx, earlier)
	})
})
