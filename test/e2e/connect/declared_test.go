package connect

import (
	"context"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// deployed describes everything that trouble with Ceph must neither change nor restart.
func deployed(ctx context.Context) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, d := range driver.All {
		controller, node := env.Controller(ctx, Default, d), env.Node(ctx, Default, d)
		out[d.ControllerName()] = fmt.Sprint(controller.UID, " ", controller.Generation)
		out[d.NodeName()] = fmt.Sprint(node.UID, " ", node.Generation)
		for _, workload := range []string{d.ControllerName(), d.NodeName()} {
			for _, pod := range env.Pods(ctx, Default, workload) {
				out["pod "+pod.Name] = string(pod.UID)
			}
		}
		for _, name := range []string{d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret()} {
			secret, err := env.Kube.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			out["Secret "+name] = secret.ResourceVersion
		}
		class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		out["StorageClass "+class.Name] = string(class.UID) + " " + class.ResourceVersion
	}
	return out
}

func declared() {
	It("deploys block storage; file storage waits for a filesystem, and says so", func(ctx SpecContext) {
		env.Declare(ctx, env.Credentials())
		Eventually(func(g Gomega) {
			g.Expect(fixture.Complaints(env.Conditions(ctx, g, driver.RBD))).To(BeEmpty())
			c := env.Condition(ctx, g, driver.CephFS, "Disabled")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue))
			g.Expect(c.Reason).To(Equal("NoFilesystem"))
			g.Expect(c.Message).To(ContainSubstring("ceph fs volume create"))
		}).WithContext(ctx).Should(Succeed())
		_, err := env.Kube.AppsV1().DaemonSets(namespace).Get(ctx, driver.CephFS.NodeName(), metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	})

	It("deploys file storage once there is a filesystem, and no complaint is left", func(ctx SpecContext) {
		Expect(env.Cluster.Ceph().CreateFilesystem(ctx, cephdaemons.Filesystem)).To(Succeed())
		Expect(env.Cluster.Ceph().WaitFilesystem(ctx)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, driver.CephFS, "Disabled").Type).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
		env.Settle(ctx)
		Expect(env.Condition(ctx, Default, driver.RBD, "Disabled").Type).To(BeEmpty())
	})
}

// fields is the Secret for those who have no ceph.conf at hand.
func fields() {
	It("is as good", func(ctx SpecContext) {
		before := deployed(ctx)
		DeferCleanup(func(ctx SpecContext) {
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
		})
		ceph := env.Cluster.Ceph()
		env.Declare(ctx, map[string][]byte{
			"fsid":     []byte(ceph.FSID()),
			"monitors": []byte(strings.Join(env.MonAddresses(ctx), ",")),
			"userID":   []byte("admin"),
			"userKey":  []byte(fixture.KeysOf(ceph.Keyring())[0]),
		})
		for _, d := range driver.All {
			env.Operator(d).Kill()
			Expect(env.Operator(d).Restart()).To(Succeed())
		}
		Expect(env.Cluster.Ceph().AddMon(ctx, "f")).To(Succeed())
		monsListed(ctx, 4)
		Expect(ceph.RemoveMon(ctx, "f")).To(Succeed())
		monsListed(ctx, 3)
		env.Settle(ctx)
		after := deployed(ctx)
		for _, all := range []map[string]string{before, after} {
			maps.DeleteFunc(all, func(what, _ string) bool { return strings.HasSuffix(what, "-csi-config") })
		}
		Expect(after).To(Equal(before))
	})
}
