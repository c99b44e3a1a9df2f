package beside

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func outage() {
	It("outlives an API server that is away for a minute, and repairs what happens as it returns", func(ctx SpecContext) {
		env.Rest(ctx)
		before := everything(ctx, Default)
		processes := env.PodProcesses()
		Expect(processes).To(HaveLen(len(names)))
		begin := time.Now()
		env.Cluster.StopAPIServer()
		Consistently(env.PodProcesses).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(Equal(processes))
		Expect(env.Cluster.RestartAPIServer(ctx)).To(Succeed())
		// An API server that has just started refuses until it has read the roles.
		env.Lawless(begin, time.Now())
		service, secret := driver.RBD.OperatorName()+"-metrics", driver.CephFS.ConfigSecret()
		Expect(env.Kube.CoreV1().Services(driver.Namespace).Delete(ctx, service, metav1.DeleteOptions{})).To(Succeed())
		Expect(env.Kube.CoreV1().Secrets(driver.Namespace).Delete(ctx, secret, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			_, err := env.Kube.CoreV1().Services(driver.Namespace).Get(ctx, service, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			_, err = env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, secret, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		env.Settle(ctx)
		Eventually(func(g Gomega) {
			healthy(ctx, g)
			g.Expect(everything(ctx, g)).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		Expect(env.PodProcesses()).To(Equal(processes), "nobody has ended")
		for _, name := range names {
			written := slices.DeleteFunc(objects(changes(requests(name, begin))), func(r auditv1.Event) bool {
				return r.ObjectRef.Name == service || r.ObjectRef.Name == secret
			})
			Expect(fixture.Lines(written)).To(BeEmpty(), name)
		}
	})
}

// objects are the requests that wrote more than a status.
func objects(all []auditv1.Event) []auditv1.Event {
	return slices.DeleteFunc(all, func(r auditv1.Event) bool {
		refused := r.ResponseStatus != nil && r.ResponseStatus.Code >= 300
		return refused || r.ObjectRef == nil || r.ObjectRef.Subresource == "status"
	})
}

// everything has what the conditions of the ClusterCSIDrivers and of Storage/cluster say.
func everything(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	add := func(of string, conditions []operatorv1.OperatorCondition) {
		for _, c := range conditions {
			out[of+" "+c.Type] = fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message)
		}
	}
	for _, d := range driver.All {
		add(d.Name, env.Conditions(ctx, g, d))
	}
	current, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	add("Storage", current.Status.Conditions)
	return out
}

func notFound(err error) bool { return apierrors.IsNotFound(err) }
