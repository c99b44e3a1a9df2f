package pools

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// told waits for an event on a StorageClass.
func told(ctx SpecContext, class, text string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		events, err := env.Kube.CoreV1().Events("").List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.kind=StorageClass,involvedObject.name=" + class,
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events.Items).To(ContainElement(HaveField("Message", ContainSubstring(text)), &events.Items))
		g.Expect(events.Items).To(HaveLen(1))
	}).WithContext(ctx).Should(Succeed())
}

func named() {
	It("and do not exist are told of, and made where the settings ask for that", func(ctx SpecContext) {
		newClass(ctx, driver.RBD, "typo", map[string]string{"pool": "godo"})
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "StorageClass typo", `pool "godo" does not exist`)
		told(ctx, "typo", `pool "godo" does not exist`)
		env.Settle(ctx)
		Expect(pool(ctx, Default, "godo").Name).To(BeEmpty(), "nobody asked for it")

		set(ctx, driver.RBD, "missingPools", "Create")
		protected(ctx, "godo", rbdUser)
		Expect(pool(ctx, Default, "godo").Applications).To(ConsistOf("rbd"))
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		set(ctx, driver.RBD, "missingPools", nil)
		deleteClass(ctx, "typo")
		released(ctx, "godo")
	})

	It("are erasure-coded only where that works", func(ctx SpecContext) {
		ceph(ctx, "osd", "pool", "create", "ec", "erasure")
		ceph(ctx, "osd", "pool", "application", "enable", "ec", "rbd")
		newPool(ctx, "replicated")
		newClass(ctx, driver.RBD, "ec", map[string]string{"pool": "ec"})
		newClass(ctx, driver.RBD, "ec-data", map[string]string{"pool": "replicated", "dataPool": "ec"})
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing",
			`StorageClass ec, `, `pool "ec" is erasure-coded`, `StorageClass ec-data, `, "ceph osd pool set ec allow_ec_overwrites true")
		deleteClass(ctx, "ec")
		// The OSD of this Ceph keeps everything in memory.
		ceph(ctx, "config", "set", "mon", "mon_debug_no_require_bluestore_for_ec_overwrites", "true")
		ceph(ctx, "osd", "pool", "set", "ec", "allow_ec_overwrites", "true")
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		protected(ctx, "ec", rbdUser)
		protected(ctx, "replicated", rbdUser)
		deleteClass(ctx, "ec-data")
		released(ctx, "ec")
		released(ctx, "replicated")
	})

	It("by a topology are told of, and kept all the same", func(ctx SpecContext) {
		newPool(ctx, "zone")
		newClass(ctx, driver.RBD, "zones", map[string]string{"topologyConstrainedPools": `[{"poolName":"zone"}]`})
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "StorageClass zones", "topologyConstrainedPools has no effect")
		told(ctx, "zones", "claims stay Pending")
		protected(ctx, "zone", rbdUser)
		deleteClass(ctx, "zones")
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		released(ctx, "zone")
	})

	It("in a Ceph cluster that nobody declared are told of", func(ctx SpecContext) {
		newClass(ctx, driver.RBD, "nowhere", map[string]string{"clusterID": "rook-ceph", "pool": "p"})
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "StorageClass nowhere", `"rook-ceph"`, env.Cluster.Ceph().FSID())
		told(ctx, "nowhere", "rook-ceph")
		deleteClass(ctx, "nowhere")
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
	})

	It("lack a filesystem or its group", func(ctx SpecContext) {
		newClass(ctx, driver.CephFS, "nofs", map[string]string{"fsName": "none"})
		says(ctx, driver.CephFS, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "StorageClass nofs", `filesystem "none"`)
		told(ctx, "nofs", `filesystem "none" does not exist`)
		env.Settle(ctx)
		deleteClass(ctx, "nofs")
		says(ctx, driver.CephFS, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
	})
}
