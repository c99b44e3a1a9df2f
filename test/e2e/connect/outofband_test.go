package connect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const theirs = "their-ceph-csi"

// bindingCommand is what conditions print.
var bindingCommand = regexp.MustCompile(`oc create rolebinding (\S+) -n (\S+) --clusterrole=(\S+) --serviceaccount=([^:]+):(\S+)`)

// obey does what a condition says.
func obey(ctx SpecContext, message string) {
	GinkgoHelper()
	words := bindingCommand.FindStringSubmatch(message)
	Expect(words).NotTo(BeNil(), message)
	_, err := env.Kube.RbacV1().RoleBindings(words[2]).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: words[1]},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: words[3]},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: words[4], Name: words[5]}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// configure replaces spec.driverConfig.ceph; nil removes it.
func configure(ctx SpecContext, d driver.Driver, ceph map[string]any) {
	GinkgoHelper()
	_, err := env.Configure(ctx, d, ceph)
	Expect(err).NotTo(HaveOccurred())
}

func outOfBand() {
	It("of another driver has its mons kept current, once that is allowed", func(ctx SpecContext) {
		env.MayBeDenied("/api/v1/namespaces/" + theirs + "/")
		_, err := env.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		const foreign = `[ {"monitors": [ "192.0.2.1:6789" ],"clusterID":"foreign"},` + "\n" + `  {"clusterID": "%s", "monitors": %s, "x": {}} ]`
		fsid := env.Cluster.Ceph().FSID()
		configMaps := env.Kube.CoreV1().ConfigMaps(theirs)
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ceph-csi-config"},
			Data: map[string]string{"config.json": fmt.Sprintf(foreign, fsid, `["192.0.2.2:6789"]`)}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, d := range driver.All {
			configure(ctx, d, map[string]any{"outOfBand": []any{map[string]any{"namespace": theirs, "configMap": "ceph-csi-config"}}})
			DeferCleanup(func(ctx SpecContext) {
				configure(ctx, d, nil)
				env.Settle(ctx)
			})
			Eventually(func(g Gomega) {
				c := env.Condition(ctx, g, d, "StorageClassesUsable")
				g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse))
				g.Expect(c.Reason).To(Equal("Forbidden"), c.Message)
			}).WithContext(ctx).Should(Succeed())
			Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty())
		}
		for _, d := range driver.All {
			obey(ctx, env.Condition(ctx, Default, d, "StorageClassesUsable").Message)
		}
		for _, d := range driver.All {
			// The operator tries again within a minute.
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, d, "StorageClassesUsable").Status).To(Equal(operatorv1.ConditionTrue))
			}).WithContext(ctx).WithTimeout(time.Minute + fixture.Soon).Should(Succeed())
		}
		current := func() {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				object, err := configMaps.Get(ctx, "ceph-csi-config", metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				mons, err := json.Marshal(env.ConfigJSON(ctx, g, driver.RBD)[0].Monitors)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(object.Data["config.json"]).To(Equal(fmt.Sprintf(foreign, fsid, mons)))
			}).WithContext(ctx).Should(Succeed())
		}
		current()
		ceph := env.Cluster.Ceph()
		count := len(ceph.Mons())
		Expect(ceph.AddMon(ctx, "z")).To(Succeed())
		monsListed(ctx, count+1)
		current()
		Expect(ceph.RemoveMon(ctx, "z")).To(Succeed())
		monsListed(ctx, count)
		current()
	})
}
