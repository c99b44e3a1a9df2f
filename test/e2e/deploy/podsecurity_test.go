package deploy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// admit asks the API server whether it would take a pod of the template in a namespace.
func admit(ctx SpecContext, namespace string, template corev1.PodTemplateSpec) error {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Name = "candidate"
	pod.Spec.ServiceAccountName = "default"
	_, err := env.Kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

var _ = Describe("Pod Security restricted", Ordered, func() {
	const namespace = "restricted-pods"

	BeforeAll(func(ctx SpecContext) {
		_, err := env.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(env.Kube.CoreV1().Namespaces().Delete, namespace, metav1.DeleteOptions{})
		Eventually(func() error {
			_, err := env.Kube.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
			return err
		}).WithContext(ctx).Should(Succeed())
	})

	for _, d := range driver.All {
		It("admits the controllers: "+d.Name, func(ctx SpecContext) {
			Expect(admit(ctx, namespace, env.Controller(ctx, Default, d).Spec.Template)).To(Succeed())
		})

		It("refuses the node plugin, so it is in force: "+d.Name, func(ctx SpecContext) {
			err := admit(ctx, namespace, env.Node(ctx, Default, d).Spec.Template)
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring("violates PodSecurity")))
		})
	}
})
