package deploy

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
)

// ask runs a command of the ceph tool and decodes its answer.
func ask(ctx SpecContext, answer any, arguments ...string) {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, append(arguments, "--format", "json")...)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(out, answer)).To(Succeed(), "%s", out)
}

var _ = Describe("Ceph", func() {
	It("has a pool of the operator's own for images", func(ctx SpecContext) {
		var applications map[string]any
		ask(ctx, &applications, "osd", "pool", "application", "get", rbdPool)
		Expect(applications).To(HaveKey("rbd"))
	})

	It("has the group for subvolumes", func(ctx SpecContext) {
		var groups []struct{ Name string }
		ask(ctx, &groups, "fs", "subvolumegroup", "ls", cephdaemons.Filesystem)
		Expect(groups).To(ContainElement(HaveField("Name", embedded.DefaultInfrastructureName)))
	})

	for _, d := range driver.All {
		It("is described to pods by all of its mons: "+d.Name, func(ctx SpecContext) {
			entries := env.ConfigJSON(ctx, Default, d)
			Expect(entries).To(HaveLen(1))
			Expect(entries[0].ClusterID).To(Equal(env.Cluster.Ceph().FSID()))
			Expect(entries[0].Monitors).To(ConsistOf(env.MonAddresses(ctx)))
		})

		It("is reached with users of the driver's own: "+d.Name, func(ctx SpecContext) {
			for name, id := range map[string]string{
				d.ProvisionerSecret(): d.ProvisionerUser(embedded.DefaultInfrastructureName), d.NodeSecret(): d.NodeUser(embedded.DefaultInfrastructureName),
			} {
				var users []struct{ Key string }
				ask(ctx, &users, "auth", "get", "client."+id)
				Expect(users).To(HaveLen(1))
				secret, err := env.Kube.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(string(secret.Data["userID"])).To(Equal(id))
				Expect(string(secret.Data["userKey"]) == users[0].Key).To(BeTrue(), "the key of Secret %s is not the user's", name)
			}
		})
	}
})
