package glue

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const (
	newVersion  = "4.23.1"
	newOperator = "registry.example.com/ceph-csi-driver-operator:" + newVersion
	proxy       = "https://proxy.example.com:3129"
	newDriver   = "registry.example.com/ceph-csi:" + newVersion
)

func clusterOperatorOf(v fixture.Version) *configv1.ClusterOperator {
	GinkgoHelper()
	out := &configv1.ClusterOperator{}
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(v.Object.Object, out)).To(Succeed())
	return out
}

func upgraded() {
	It("reports a new version when everything runs it", func(ctx SpecContext) {
		Expect(env.Cluster.SetProxy(ctx, configv1.ProxyStatus{HTTPSProxy: proxy})).To(Succeed())
		env.Kubectl(ctx, "-n", driver.Namespace, "set", "env", "deployment/"+fixture.GlueAccount,
			"OPERATOR_IMAGE_VERSION="+newVersion, "CEPH_CSI_DRIVER_OPERATOR_IMAGE="+newOperator, "CEPH_CSI_DRIVER_IMAGE="+newDriver)
		Eventually(func(g Gomega) {
			g.Expect(env.ClusterOperator(ctx, g).Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: newVersion}))
			env.ExpectStatus(ctx, g, "True", "False", "False")
			for _, d := range driver.All {
				g.Expect(env.Controller(ctx, g, d).Spec.Template.Spec.Containers).To(ContainElement(HaveField("Image", newDriver)))
			}
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})

	It("has given the operators the cluster's proxy", func(ctx SpecContext) {
		for _, d := range driver.All {
			deployment, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, d.OperatorName(), metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(deployment.Spec.Template.Spec.Containers[0].Env).To(ContainElement(corev1.EnvVar{Name: "HTTPS_PROXY", Value: proxy}))
		}
	})

	It("was Progressing before, and not with the new version", func() {
		progressed := false
		for _, v := range env.History.Of(fixture.Kind("ClusterOperator")) {
			o := clusterOperatorOf(v)
			progressing, message := fixture.Status(o, configv1.OperatorProgressing)
			progressed = progressed || progressing == "True"
			for _, version := range o.Status.Versions {
				if version.Version == newVersion {
					Expect(progressed).To(BeTrue(), "revision %d reports the version before any rollout", v.Revision())
					Expect(oldest(newVersion)).To(BeNumerically(">", lastOld()), "a pod template had old images after the version was reported")
					_ = message
					return
				}
			}
		}
		Fail("the version was never reported")
	})
}

// oldest is the revision in which ClusterOperator storage first had a version.
func oldest(version string) uint64 {
	for _, v := range env.History.Of(fixture.Kind("ClusterOperator")) {
		for _, have := range clusterOperatorOf(v).Status.Versions {
			if have.Version == version {
				return v.Revision()
			}
		}
	}
	return 0
}

// lastOld is the last revision of a workload of the drivers that ran another driver image.
func lastOld() uint64 {
	var last uint64
	for _, v := range env.History.Of(func(v fixture.Version) bool {
		return v.Object.GetKind() == "Deployment" || v.Object.GetKind() == "DaemonSet"
	}) {
		for _, d := range driver.All {
			name := v.Object.GetName()
			if name != d.ControllerName() && name != d.NodeName() {
				continue
			}
			content, err := v.Object.MarshalJSON()
			Expect(err).NotTo(HaveOccurred())
			if !containsImage(content, newDriver) {
				last = max(last, v.Revision())
			}
		}
	}
	return last
}
