package connect

import (
	"maps"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// second adds a Ceph cluster for good: its entries stay.
func second() {
	It("is followed beside the first one, whose volumes do not notice", func(ctx SpecContext) {
		daemons := process.NewGroup(filepath.Join(env.Cluster.Dir(), "logs"), func(process.Record) error { return nil })
		DeferCleanup(daemons.Kill)
		other, err := cephdaemons.Start(ctx, cephdaemons.Options{
			Dir: filepath.Join(env.Cluster.Dir(), "second"), WithoutFilesystem: true, Daemons: daemons, Log: GinkgoWriter,
		})
		Expect(err).NotTo(HaveOccurred())
		env.KeepSecret(fixture.KeysOf(other.Keyring())...)
		unchanged := func() map[string]string {
			all := deployed(ctx)
			maps.DeleteFunc(all, func(what, _ string) bool { return strings.HasSuffix(what, "-csi-config") })
			return all
		}
		before, first := unchanged(), env.MonAddresses(ctx)
		listed := func() {
			GinkgoHelper()
			mons := fixture.MonAddressesOf(ctx, other)
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					byID := map[string][]string{}
					for _, entry := range env.ConfigJSON(ctx, g, d) {
						byID[entry.ClusterID] = entry.Monitors
					}
					g.Expect(byID).To(HaveLen(2))
					g.Expect(byID[env.Cluster.Ceph().FSID()]).To(ConsistOf(first))
					g.Expect(byID[other.FSID()]).To(ConsistOf(mons))
				}).WithContext(ctx).Should(Succeed())
			}
		}
		secrets := env.Kube.CoreV1().Secrets(namespace)
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "ceph-second", Labels: map[string]string{driver.ClusterLabel: ""}},
			Data:       map[string][]byte{"ceph.conf": []byte(other.Conf()), "keyring": []byte("[client.admin]\n")},
		}
		secret, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				noted := env.Condition(ctx, g, d, condition.StorageClassesUsable)
				g.Expect(noted.Status).To(Equal(operatorv1.ConditionFalse))
				g.Expect(noted.Reason).To(Equal(condition.CredentialsInvalid))
				g.Expect(noted.Message).To(ContainSubstring(namespace + "/ceph-second: keyring: "))
				g.Expect(env.Condition(ctx, g, d, connectionDegraded).Status).To(Equal(operatorv1.ConditionFalse), "the first Ceph cluster is well")
			}).WithContext(ctx).Should(Succeed())
		}
		secret.Data["keyring"] = []byte(other.Keyring())
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		listed()
		env.Settle(ctx)
		Expect(other.AddMon(ctx, "b")).To(Succeed())
		listed()
		cared(ctx, other)
		Expect(unchanged()).To(Equal(before))

		Expect(secrets.Delete(ctx, secret.Name, metav1.DeleteOptions{})).To(Succeed())
		env.Settle(ctx)
		listed()
		rook(ctx, other)
		Expect(other.AddMon(ctx, "c")).To(Succeed())
		listed()
		Expect(unchanged()).To(Equal(before))
	})
}

// rook declares a Ceph cluster as Rook does, until the spec ends.
func rook(ctx SpecContext, other *cephdaemons.Ceph) {
	GinkgoHelper()
	const theirs = "rook-ceph"
	_, err := env.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, d := range driver.All {
		env.LetReadRook(ctx, d, theirs)
		configure(ctx, d, map[string]any{"rookNamespace": theirs})
		DeferCleanup(func(ctx SpecContext) {
			configure(ctx, d, nil)
			env.Settle(ctx)
		})
		complains(ctx, d, "CredentialsMissing", "Secret rook-ceph/rook-ceph-mon does not exist")
	}
	_, err = env.Kube.CoreV1().Secrets(theirs).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph-mon"}, Data: map[string][]byte{
		"fsid": []byte(other.FSID()), "ceph-username": []byte("client.admin"), "ceph-secret": []byte(fixture.KeysOf(other.Keyring())[0]),
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Kube.CoreV1().ConfigMaps(theirs).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph-mon-endpoints"},
		Data: map[string]string{"data": "b=" + fixture.MonAddressesOf(ctx, other)[0], "mapping": "{}", "maxMonId": "1"}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, d, connectionDegraded).Status).To(Equal(operatorv1.ConditionFalse))
		}).WithContext(ctx).Should(Succeed())
	}
}
