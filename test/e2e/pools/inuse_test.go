package pools

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const (
	rbdUser    = infraID + ".rbd"
	cephFSUser = infraID + ".cephfs"
	// twoLooks covers what is seen only when Ceph is asked again, once a minute.
	twoLooks = 2 * fixture.Patience
)

// removal is what an administrator does by mistake.
func removal(name string) []string {
	return []string{"osd", "pool", "rm", name, name, "--yes-i-really-really-mean-it"}
}

func inUse() {
	It("cannot be removed, until the last class, volume and snapshot have gone", func(ctx SpecContext) {
		p := newPool(ctx, "inuse")
		newClass(ctx, driver.RBD, "inuse", map[string]string{"pool": "inuse"})
		protected(ctx, "inuse", rbdUser)
		_, err := env.Cluster.Ceph().Command(ctx, removal("inuse")...)
		Expect(err).To(MatchError(ContainSubstring("nodelete")))

		newVolume(ctx, "inuse", csi(driver.RBD, p.ID, map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "pool": "inuse"}))
		ceph(ctx, "osd", "pool", "rename", "inuse", "renamed")
		deleteClass(ctx, "inuse")
		Consistently(func(g Gomega) {
			g.Expect(pool(ctx, g, "renamed").NoDelete).To(BeTrue())
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).WithPolling(fixture.CephPolling).Should(Succeed(), "a volume is in it")
		newSnapshot(ctx, "inuse", driver.RBD, p.ID)
		deleteVolume(ctx, "inuse")
		Consistently(func(g Gomega) {
			g.Expect(pool(ctx, g, "renamed").NoDelete).To(BeTrue())
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).WithPolling(fixture.CephPolling).Should(Succeed(), "a snapshot of the volume is in it")
		Expect(env.Snapshots.SnapshotV1().VolumeSnapshotContents().Delete(ctx, "inuse", metav1.DeleteOptions{})).To(Succeed())
		released(ctx, "renamed")
		ceph(ctx, removal("renamed")...)
	})

	It("that an administrator removes all the same are told of, and fire an alert, until they are made again", func(ctx SpecContext) {
		newPool(ctx, "lost")
		newClass(ctx, driver.RBD, "lost", map[string]string{"pool": "lost"})
		protected(ctx, "lost", rbdUser)
		missing := `missing_pools{fsid="` + env.Cluster.Ceph().FSID() + `"} `
		recording := env.Record(ctx, driver.RBD, "CephCSIPoolMissing")
		recording.Phase(ctx, missing+"0")
		// The operator may set the flag again in between.
		Eventually(func(g Gomega) {
			ceph(ctx, "osd", "pool", "set", "lost", "nodelete", "false")
			_, err := env.Cluster.Ceph().Command(ctx, removal("lost")...)
			g.Expect(err).NotTo(HaveOccurred())
		}).WithContext(ctx).Should(Succeed())
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing", "StorageClass lost", `pool "lost" does not exist`)
		recording.Phase(ctx, missing+"1")
		newPool(ctx, "lost")
		protected(ctx, "lost", rbdUser)
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		recording.Phase(ctx, missing+"0")
		deleteClass(ctx, "lost")
		released(ctx, "lost")
		ceph(ctx, removal("lost")...)
	})

	It("are released when the use ended while the operator was stopped", func(ctx SpecContext) {
		newPool(ctx, "stopped")
		newClass(ctx, driver.RBD, "stopped", map[string]string{"pool": "stopped"})
		protected(ctx, "stopped", rbdUser)
		env.Operator(driver.RBD).Kill()
		deleteClass(ctx, "stopped")
		begin := time.Now()
		Expect(env.Operator(driver.RBD).Restart()).To(Succeed())
		released(ctx, "stopped")
		AddReportEntry("released " + time.Since(begin).String() + " after the start")
	})

	It("include that of the default class, of whose own making it is", func(ctx SpecContext) {
		protected(ctx, infraID+"-rbd", rbdUser)
		says(ctx, driver.RBD, "VolumesSafe", operatorv1.ConditionTrue, "AsExpected")
	})

	It("are left to their administrator where the settings ask for that", func(ctx SpecContext) {
		set(ctx, driver.RBD, "poolProtection", "Disabled")
		Eventually(func(g Gomega) {
			p := pool(ctx, g, infraID+"-rbd")
			g.Expect(p.NoDelete).To(BeFalse())
			g.Expect(users(p)).To(ConsistOf(rbdUser), "the claim stays for the rights that it gives")
		}).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).Should(Succeed())
		says(ctx, driver.RBD, "VolumesSafe", operatorv1.ConditionFalse, "ProtectionDisabled")
		set(ctx, driver.RBD, "poolProtection", nil)
		protected(ctx, infraID+"-rbd", rbdUser)
	})
}

func denied() {
	It("are told of where the user of the Secret may not protect them", func(ctx SpecContext) {
		limited := ceph(ctx, "auth", "get-or-create", "client.limited", "mon", "allow r", "mgr", "allow rw",
			"osd", "profile rbd, allow rw tag cephfs metadata=*, allow rw tag cephfs data=*", "mds", "allow rw")
		env.KeepSecret(fixture.KeysOf(string(limited))...)
		entries := env.Credentials()
		entries["keyring"] = limited
		for _, d := range driver.All {
			set(ctx, d, "credentials", string(driver.CredentialsPassthrough))
		}
		env.Declare(ctx, entries)
		// Pools that are named before the new connection is there are protected by the old one.
		var name string
		for i := 0; ; i++ {
			name = fmt.Sprintf("denied-%d", i)
			newPool(ctx, name)
			newClass(ctx, driver.RBD, name, map[string]string{"pool": name})
			var refused bool
			Eventually(func(g Gomega) {
				refused = env.Condition(ctx, g, driver.RBD, "VolumesSafe").Status == operatorv1.ConditionFalse
				g.Expect(refused || pool(ctx, g, name).NoDelete).To(BeTrue())
			}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
			if refused {
				break
			}
			Expect(i).To(BeNumerically("<", 20), "the connection is never replaced")
		}
		says(ctx, driver.RBD, "VolumesSafe", operatorv1.ConditionFalse, "AccessDenied",
			`"`+name+`"`, "client.limited", `allow command "osd pool application set"`)
		env.Settle(ctx)
		env.Declare(ctx, env.Credentials())
		for _, d := range driver.All {
			set(ctx, d, "credentials", nil)
		}
		protected(ctx, name, rbdUser)
		says(ctx, driver.RBD, "VolumesSafe", operatorv1.ConditionTrue, "AsExpected")
	})
}

func shared() {
	It("keep the flag until the other OpenShift cluster has gone, too", func(ctx SpecContext) {
		newPool(ctx, "shared")
		newClass(ctx, driver.RBD, "shared", map[string]string{"pool": "shared"})
		protected(ctx, "shared", rbdUser)
		const other = keyPrefix + ".other-infra.rbd"
		ceph(ctx, "osd", "pool", "application", "set", "shared", "rbd", other, "in-use")
		deleteClass(ctx, "shared")
		protected(ctx, "shared", "other-infra.rbd")
		// The other cluster's operator is killed in the middle of its release.
		ceph(ctx, "osd", "pool", "application", "rm", "shared", "rbd", other)
		released(ctx, "shared")
	})

	It("keep the flag that an administrator set before, for ever", func(ctx SpecContext) {
		newPool(ctx, "admins")
		ceph(ctx, "osd", "pool", "set", "admins", "nodelete", "true")
		newPool(ctx, "beside")
		newClass(ctx, driver.RBD, "admins", map[string]string{"pool": "admins"})
		newClass(ctx, driver.RBD, "beside", map[string]string{"pool": "beside"})
		protected(ctx, "beside", rbdUser)
		Eventually(func(g Gomega) {
			g.Expect(users(pool(ctx, g, "admins"))).To(ConsistOf(rbdUser), "the claim gives the right; the flag is nobody's of us")
		}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		deleteClass(ctx, "admins")
		deleteClass(ctx, "beside")
		released(ctx, "beside")
		Eventually(func(g Gomega) {
			p := pool(ctx, g, "admins")
			g.Expect(users(p)).To(BeEmpty())
			g.Expect(p.NoDelete).To(BeTrue())
		}).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).Should(Succeed())
	})
}
