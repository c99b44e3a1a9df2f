package connect

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// nothingDeployed says that there are neither workloads nor classes.
func nothingDeployed(ctx context.Context, g Gomega) {
	GinkgoHelper()
	deployments, err := env.Kube.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	daemonSets, err := env.Kube.AppsV1().DaemonSets(namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	classes, err := env.Kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(deployments.Items).To(BeEmpty())
	g.Expect(daemonSets.Items).To(BeEmpty())
	g.Expect(classes.Items).To(BeEmpty())
}

func disabled(ctx context.Context, d driver.Driver, reason, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, "Disabled")
		g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue), d.Name)
		g.Expect(c.Reason).To(Equal(reason))
		g.Expect(c.Message).To(ContainSubstring(message))
		// What is disabled hides no other condition.
		for _, other := range env.Conditions(ctx, g, d) {
			bad := strings.HasSuffix(other.Type, "Degraded") || strings.HasSuffix(other.Type, "Progressing")
			g.Expect(bad && other.Status == operatorv1.ConditionTrue).To(BeFalse(), "%s: %s", other.Type, other.Message)
		}
		nothingDeployed(ctx, g)
	}).WithContext(ctx).Should(Succeed())
}

func undeclared() {
	It("drivers are disabled, and the condition has the command that changes it", func(ctx SpecContext) {
		for _, d := range driver.All {
			disabled(ctx, d, "NoCephCluster", "oc create secret generic ceph-credentials -n openshift-cluster-csi-drivers --from-file=ceph.conf --from-file=keyring")
		}
	})

	It("somebody else's CSIDriver is left alone, and named", func(ctx SpecContext) {
		for _, d := range driver.All {
			foreign, err := env.Kube.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
				ObjectMeta: metav1.ObjectMeta{Name: d.Name, Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
					Annotations: map[string]string{"meta.helm.sh/release-name": "ceph-csi", "meta.helm.sh/release-namespace": "storage"}},
				Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(true), PodInfoOnMount: ptr.To(false)},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			disabled(ctx, d, "ForeignCSIDriver", "ceph-csi")
			now, err := env.Kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(now.UID).To(Equal(foreign.UID))
			Expect(now.ResourceVersion).To(Equal(foreign.ResourceVersion))
			Expect(env.Kube.StorageV1().CSIDrivers().Delete(ctx, d.Name, metav1.DeleteOptions{})).To(Succeed())
			disabled(ctx, d, "NoCephCluster", "")
		}
	})
}
