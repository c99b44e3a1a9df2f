package trouble

import (
	"context"
	"fmt"
	"math/rand"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func killAll() {
	for _, d := range driver.All {
		env.Operator(d).Kill()
	}
}

func restartAll() {
	GinkgoHelper()
	for _, d := range driver.All {
		Expect(env.Operator(d).Restart()).To(Succeed())
	}
}

// killedWhileDeploying picks moments by the number of writes that have happened: their
// sequence is the seed's.
func killedWhileDeploying() {
	const kills = 6

	It("goes on where it was, whenever that happens", func(ctx SpecContext) {
		random := rand.New(rand.NewSource(GinkgoRandomSeed()))
		for _, d := range driver.All {
			env.StartOperator(ctx, d)
		}
		for range kills {
			begin, writes := writesSeen(), random.Intn(60)
			Eventually(func(g Gomega) bool {
				return writesSeen()-begin >= writes || quietAndGood(ctx, g)
			}).WithContext(ctx).WithPolling(2 * time.Millisecond).Should(BeTrue())
			AddReportEntry(fmt.Sprintf("killed after %d writes", writesSeen()-begin))
			killAll()
			restartAll()
		}
		env.Settle(ctx)
	})
}

func writesSeen() int { return len(env.History.Of(func(fixture.Version) bool { return true })) }

func quietAndGood(ctx context.Context, g Gomega) bool {
	for _, d := range driver.All {
		if len(fixture.Complaints(env.Conditions(ctx, g, d))) > 0 {
			return false
		}
	}
	return true
}

func killed() {
	It("acts again at once when it is started, as the holder of its own lease", func(ctx SpecContext) {
		for range 3 {
			killAll()
			for _, d := range driver.All {
				lease, err := env.Kube.CoordinationV1().Leases(namespace).Get(ctx, d.OperatorName()+"-lock", metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(*lease.Spec.HolderIdentity).To(Equal(d.OperatorName()+"-0"), "nobody has released it")
			}
			actsAfterRestart(ctx, "killed")
			env.Settle(ctx)
		}
	})
}

// actsAfterRestart takes Deployments away and has the operators bring them back.
func actsAfterRestart(ctx context.Context, how string) {
	GinkgoHelper()
	for _, d := range driver.All {
		Expect(env.Kube.AppsV1().Deployments(namespace).Delete(ctx, d.ControllerName(), metav1.DeleteOptions{})).To(Succeed())
	}
	begin := time.Now()
	restartAll()
	for _, d := range driver.All {
		Eventually(func(g Gomega) { env.Controller(ctx, g, d) }).WithContext(ctx).Should(Succeed())
		AddReportEntry(fmt.Sprintf("%s, %s: the Deployment is back %.2f s after the start", how, d.OperatorName(), time.Since(begin).Seconds()))
	}
}
