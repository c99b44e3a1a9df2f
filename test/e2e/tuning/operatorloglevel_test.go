package tuning

import (
	"context"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// traced is a line that library-go logs on each sync of the Deployment, from level Debug on.
const traced = "] syncManaged"

var _ = Describe("spec.operatorLogLevel", func() {
	set := func(ctx context.Context, level operatorv1.LogLevel) {
		for _, d := range driver.All {
			env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.OperatorLogLevel = level })
		}
	}
	log := func(d driver.Driver) string {
		GinkgoHelper()
		content, err := os.ReadFile(env.Operator(d).LogFile())
		Expect(err).NotTo(HaveOccurred())
		return string(content)
	}
	pokes := 0
	// poke wakes the controller of a driver's Deployment, and changes nothing.
	poke := func(ctx context.Context, d driver.Driver) {
		GinkgoHelper()
		pokes++
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test.openshift.io/poke":"%d"}}}`, pokes)
		_, err := env.Kube.AppsV1().Deployments(driver.Namespace).Patch(ctx, d.ControllerName(), types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}

	It("reaches the running operator, up and down again", func(ctx SpecContext) {
		DeferCleanup(set, operatorv1.Normal)
		pids := map[string]int{}
		for _, d := range driver.All {
			pids[d.Name] = env.Operator(d).PID()
			poke(ctx, d)
			Expect(log(d)).NotTo(ContainSubstring(traced), "at level Normal")
		}
		set(ctx, operatorv1.Debug)
		for _, d := range driver.All {
			Eventually(func() string {
				poke(ctx, d)
				return log(d)
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(ContainSubstring(traced))
		}
		set(ctx, operatorv1.Normal)
		for _, d := range driver.All {
			// What was under way when the level changed may still have been logged.
			Eventually(func(g Gomega) {
				quiet := strings.Count(log(d), traced)
				poke(ctx, d)
				g.Consistently(func() int { return strings.Count(log(d), traced) }, fixture.Undisturbed).Should(Equal(quiet))
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			Expect(env.Operator(d).PID()).To(Equal(pids[d.Name]))
			Expect(env.Operator(d).Exited()).NotTo(HaveOccurred(), "the operator was not started anew")
		}
	})

	// That no key is in a log, the suite looks at its end.
	It("shows at TraceAll that something is sent, and not what", func(ctx SpecContext) {
		DeferCleanup(set, operatorv1.Normal)
		set(ctx, operatorv1.TraceAll)
		for _, d := range driver.All {
			Eventually(func() string {
				Expect(env.Kube.CoreV1().Secrets(driver.Namespace).Delete(ctx, d.NodeSecret(), metav1.DeleteOptions{})).To(Or(Succeed(), Satisfy(apierrors.IsNotFound)))
				return log(d)
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(ContainSubstring(`"Request Body" body="(not shown)"`))
		}
		env.Settle(ctx)
	})
})
