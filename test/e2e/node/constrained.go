package node

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	securityv1 "github.com/openshift/api/security/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
)

// firstUser is where the ranges of namespaces' users begin, far from those that images name.
const firstUser = 1_000_000_000

// Constrained has pods admitted from now on as OpenShift does by its SecurityContextConstraints, which
// the policies of a file stand in for.
func Constrained(policies string) {
	It("admits pods as OpenShift does, or refuses them", func(ctx SpecContext) {
		env.Kubectl(ctx, "apply", "-f", policies)
		Eventually(func(g Gomega) {
			pod, err := admit(ctx, func(*corev1.Pod) {})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pod.Annotations).To(HaveKeyWithValue(securityv1.ValidatedSCCAnnotation, "restricted-v2"))
			g.Expect(pod.Spec.Containers[0].SecurityContext.RunAsUser).To(HaveValue(BeNumerically(">=", firstUser)))
		}).WithContext(ctx).Should(Succeed())
		for reason, change := range map[string]func(*corev1.Pod){
			"host namespaces are not allowed":      func(p *corev1.Pod) { p.Spec.HostNetwork = true },
			"volumes of this type are not allowed": func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{hostFolder} },
			"users must be of the namespace's range": func(p *corev1.Pod) {
				p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](65534)}
			},
			"privileged containers are not allowed": func(p *corev1.Pod) {
				p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true), AllowPrivilegeEscalation: ptr.To(true)}
			},
			"may not use SecurityContextConstraints ": func(p *corev1.Pod) { p.Annotations = map[string]string{securityv1.RequiredSCCAnnotation: "privileged"} },
		} {
			Eventually(func(g Gomega) {
				_, err := admit(ctx, change)
				g.Expect(err).To(MatchError(ContainSubstring(reason)))
			}).WithContext(ctx).Should(Succeed())
		}
	})
}

// Admitted is what became of the pods.
func Admitted() {
	It("runs pods by the constraints that they require", func(ctx SpecContext) {
		for _, p := range pods(ctx) {
			Expect(p.Annotations).To(HaveKeyWithValue(securityv1.ValidatedSCCAnnotation, p.Annotations[securityv1.RequiredSCCAnnotation]), p.Name)
			for _, c := range p.Spec.Containers {
				if p.Annotations[securityv1.ValidatedSCCAnnotation] == "restricted-v2" {
					Expect(c.SecurityContext.RunAsUser).To(HaveValue(BeNumerically(">=", firstUser)), "%s of %s", c.Name, p.Name)
				}
			}
		}
	})
}

var hostFolder = corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}

// admit is what becomes of a pod, which is not made.
func admit(ctx context.Context, change func(*corev1.Pod)) (*corev1.Pod, error) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "tried"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "workload", Image: images.Workload}}},
	}
	change(pod)
	return env.Kube.CoreV1().Pods(driver.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}
