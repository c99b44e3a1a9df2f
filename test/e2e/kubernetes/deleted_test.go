package kubernetes

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// replaceMons has every mon replaced since the Secret was made, and known to both drivers.
func replaceMons(ctx context.Context) {
	GinkgoHelper()
	ceph := env.Cluster.Ceph()
	before := ceph.Mons()
	Expect(ceph.AddMon(ctx, "new")).To(Succeed())
	for _, mon := range before {
		Expect(ceph.RemoveMon(ctx, mon)).To(Succeed())
	}
	want := env.MonAddresses(ctx)
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			entries := env.ConfigJSON(ctx, g, d)
			g.Expect(entries).To(HaveLen(1))
			g.Expect(entries[0].Monitors).To(ConsistOf(want))
		}).WithContext(ctx).Should(Succeed())
	}
}

// deleteManifests removes what README's commands install, and waits until it has gone.
func deleteManifests(ctx context.Context) {
	GinkgoHelper()
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
}

func deleted() {
	It("says what is left in Ceph when the manifests were deleted first, and removes it when it is told where", func(ctx SpecContext) {
		dir := env.Checkout(ctx)
		env.InstallByReadme(ctx)
		env.AwaitProtectedPools(ctx)
		infrastructure, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		env.Lawless(time.Now(), time.Time{})
		deleteManifests(ctx)

		out, err := env.Command(ctx, "uninstall", "--yes")
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("--ceph-conf and --keyring"), Not(ContainSubstring("Removed.")), Not(ContainSubstring("stays until the cluster version operator"))))
		Expect(env.ProtectedPools(ctx, Default)).NotTo(BeEmpty())

		out, err = env.Command(ctx, "uninstall", "--yes", "--infra-id="+infrastructure.Status.InfrastructureName,
			"--ceph-conf="+filepath.Join(dir, "ceph.conf"), "--keyring="+filepath.Join(dir, "keyring"))
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("Released the pools"), ContainSubstring("Removed.\n")))
		Expect(env.ProtectedPools(ctx, Default)).To(BeEmpty())
		Eventually(func(g Gomega) { g.Expect(env.LeftOvers(ctx, g)).To(BeEmpty()) }).WithContext(ctx).Should(Succeed())
	})
}
