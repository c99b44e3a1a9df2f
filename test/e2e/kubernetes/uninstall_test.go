package kubernetes

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func uninstalled() {
	It("leaves nothing behind but the Ceph pools, and Harvester as it was", func(ctx SpecContext) {
		others := harvester(ctx)
		expectMonitored(ctx)
		expectWritten(ctx)
		// The processes end after their pods.
		env.Lawless(time.Now(), time.Time{})
		out, err := env.Command(ctx, "uninstall", "--yes")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("Released the pools"), ContainSubstring("kubectl delete -f "+manifests), Not(ContainSubstring("cluster version operator"))))
		Eventually(func(g Gomega) { g.Expect(env.LeftOvers(ctx, g)).To(BeEmpty()) }).WithContext(ctx).Should(Succeed())
		others.ExpectUntouched(ctx)
		id, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(id.Status.InfrastructureName).NotTo(BeEmpty(), "a later installation finds its volumes by it")

		env.Kubectl(ctx, "delete", "-f", manifests, "--ignore-not-found")
		Eventually(func(g Gomega) {
			_, err := env.Kube.CoreV1().Namespaces().Get(ctx, driver.Namespace, metav1.GetOptions{})
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
			groups, err := env.Kube.Discovery().ServerGroups()
			g.Expect(err).NotTo(HaveOccurred())
			for _, group := range groups.Groups {
				g.Expect(group.Name).NotTo(HaveSuffix("openshift.io"))
			}
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})
}
