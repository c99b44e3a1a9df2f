package trouble

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// workloads are the identities of what must outlive a ClusterCSIDriver.
func workloads(ctx context.Context) map[string]types.UID {
	GinkgoHelper()
	out := map[string]types.UID{}
	for _, d := range driver.All {
		out[d.ControllerName()] = env.Controller(ctx, Default, d).UID
		out[d.NodeName()] = env.Node(ctx, Default, d).UID
		for _, name := range []string{d.ControllerName(), d.NodeName()} {
			for _, pod := range env.Pods(ctx, Default, name) {
				out[pod.Name] = pod.UID
			}
		}
	}
	return out
}

func recreated() {
	It("keeps the driver running, and takes it up again with the next one", func(ctx SpecContext) {
		before := workloads(ctx)
		for _, d := range driver.All {
			Expect(env.Drivers.Delete(ctx, d.Name, metav1.DeleteOptions{})).To(Succeed())
		}
		Consistently(func() map[string]types.UID { return workloads(ctx) }).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Equal(before))
		for _, d := range driver.All {
			Expect(env.Operator(d).Exited()).NotTo(HaveOccurred())
			env.CreateDriver(ctx, d)
		}
		env.Settle(ctx)
		Expect(workloads(ctx)).To(Equal(before))
	})
}
