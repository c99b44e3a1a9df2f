package node

import (
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Traced looks into what the pods of the drivers log at most.
func Traced() {
	It("logs at TraceAll that Secrets are read, and not what is in them", func(ctx SpecContext) {
		DeferCleanup(trace, operatorv1.Normal, "--v=2")
		trace(ctx, operatorv1.TraceAll, "--v=7")
		forBoth(func(d driver.Driver) {
			c := claimed{name: "traced-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			end(ctx, hold(ctx, c, nodes[0]))
		})
		env.KeepSecret(slices.Collect(maps.Values(keys(ctx, Default)))...)
		for _, d := range driver.All {
			log := ""
			for _, workload := range []string{d.ControllerName(), d.NodeName()} {
				for _, pod := range env.Pods(ctx, Default, workload) {
					if pod.DeletionTimestamp != nil {
						continue
					}
					log += env.Kubectl(ctx, "logs", "-n", driver.Namespace, "--all-containers", pod.Name)
				}
			}
			Expect(log).To(ContainSubstring("/secrets/"+d.ProvisionerSecret()), "nothing of the API is logged")
			Expect(log).NotTo(ContainSubstring("Response Body"))
			Expect(env.HoldsKey([]byte(log))).To(BeFalse(), "a key is logged")
		}
	})
}

// trace sets how much the pods of the drivers log, and waits for such pods.
func trace(ctx context.Context, level operatorv1.LogLevel, verbosity string) {
	GinkgoHelper()
	for _, d := range driver.All {
		env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.LogLevel = level })
		Eventually(func(g Gomega) {
			for _, pod := range []corev1.PodTemplateSpec{env.Controller(ctx, g, d).Spec.Template, env.Node(ctx, g, d).Spec.Template} {
				g.Expect(fixture.Container(g, pod, "csi-driver").Args).To(ContainElement(verbosity))
			}
		}).WithContext(ctx).Should(Succeed())
	}
	env.Settle(ctx)
}
