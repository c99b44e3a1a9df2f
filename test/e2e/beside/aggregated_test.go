package beside

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// rook is the namespace where Rook declares the Ceph cluster.
const rook = "rook-ceph"

func aggregated() {
	It("has the drivers' health in ClusterOperator storage, and leaves the rest of it alone", func(ctx SpecContext) {
		_, err := env.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: rook}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		key := fixture.KeysOf(env.Cluster.Ceph().Keyring())[0]
		_, err = env.Kube.CoreV1().Secrets(rook).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ceph.RookSecret}, Data: map[string][]byte{
			"fsid": []byte(env.Cluster.Ceph().FSID()), "ceph-username": []byte("client.admin"), "ceph-secret": []byte(key),
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = env.Kube.CoreV1().ConfigMaps(rook).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ceph.RookConfigMap},
			Data: map[string]string{"data": "a=" + env.MonAddresses(ctx)[0], "mapping": "{}", "maxMonId": "0"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, d := range driver.All {
			env.LetReadRook(ctx, d, rook)
			env.Kubectl(ctx, "patch", "clustercsidriver", d.Name, "--type=merge", "-p",
				`{"spec": {"driverConfig": {"driverType": "Ceph", "ceph": {"rookNamespace": "`+rook+`"}}}}`)
		}
		env.Settle(ctx)
		Eventually(func(g Gomega) {
			healthy(ctx, g)
			operator, _ := storage(ctx, g)
			g.Expect(operator.Status.RelatedObjects).To(ConsistOf(related))
			g.Expect(condition(ctx, g, "CephRBDCSIDriverOperatorCRAvailable").Status).To(Equal(operatorv1.ConditionTrue))
		}).WithContext(ctx).Should(Succeed())
	})

	It("has a driver's complaint there, with the driver's words", func(ctx SpecContext) {
		manage(ctx, "Force")
		Eventually(func(g Gomega) {
			_, conditions := storage(ctx, g)
			g.Expect(conditions["Degraded"][0]).To(Equal("True"))
			g.Expect(conditions["Degraded"][1]).To(ContainSubstring(env.Condition(ctx, g, driver.RBD, "ManagementStateDegraded").Message))
		}).WithContext(ctx).Should(Succeed())
		manage(ctx, "Managed")
		Eventually(func(g Gomega) { healthy(ctx, g) }).WithContext(ctx).Should(Succeed())
		env.Settle(ctx)
	})
}

// manage sets the management state of the RBD driver, without a Go type that would lose
// spec.driverConfig.ceph.
func manage(ctx context.Context, state string) {
	GinkgoHelper()
	env.Kubectl(ctx, "patch", "clustercsidriver", driver.RBD.Name, "--type=merge", "-p", `{"spec": {"managementState": "`+state+`"}}`)
}

// condition is one of Storage/cluster; its zero value means that there is none.
func condition(ctx context.Context, g Gomega, kind string) operatorv1.OperatorCondition {
	GinkgoHelper()
	current, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range current.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return operatorv1.OperatorCondition{}
}
