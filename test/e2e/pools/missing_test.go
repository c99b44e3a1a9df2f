package pools

import (
	"context"
	"encoding/json"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// setEntry puts an entry into config.json, as an administrator does for a RADOS namespace; nil takes
// it out.
func setEntry(ctx context.Context, d driver.Driver, clusterID string, entry map[string]any) {
	GinkgoHelper()
	secrets := env.Kube.CoreV1().Secrets(driver.Namespace)
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		secret, err := secrets.Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		var entries []map[string]any
		if err := json.Unmarshal(secret.Data["config.json"], &entries); err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e map[string]any) bool { return e["clusterID"] == clusterID })
		if entry != nil {
			entry["clusterID"] = clusterID
			entries = append(entries, entry)
		}
		if secret.Data["config.json"], err = json.Marshal(entries); err != nil {
			return err
		}
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		return err
	})).To(Succeed())
}

func missing() {
	It("lack a RADOS namespace that config.json names are told of, and get it where the settings ask for that", func(ctx SpecContext) {
		newPool(ctx, "spaced")
		setEntry(ctx, driver.RBD, "team-a", map[string]any{
			"monitors": env.MonAddresses(ctx), "rbd": map[string]string{"radosNamespace": "space"},
		})
		newClass(ctx, driver.RBD, "spaced", map[string]string{"clusterID": "team-a", "pool": "spaced"})
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionFalse, "PlaceMissing",
			"StorageClass spaced", `pool "spaced" has no RADOS namespace "space"`, "rbd namespace create spaced/space")
		told(ctx, "spaced", `RADOS namespace "space"`)
		protected(ctx, "spaced", rbdUser)
		env.Settle(ctx)

		set(ctx, driver.RBD, "missingPools", "Create")
		says(ctx, driver.RBD, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		_, err := env.Cluster.Ceph().RBD(ctx, "create", "--size", "1M", "spaced/space/image")
		Expect(err).NotTo(HaveOccurred())
		set(ctx, driver.RBD, "missingPools", nil)
		deleteClass(ctx, "spaced")
		released(ctx, "spaced")
		setEntry(ctx, driver.RBD, "team-a", nil)
	})

	It("lack a subvolume group get it where the settings ask for that", func(ctx SpecContext) {
		ceph(ctx, "fs", "flag", "set", "enable_multiple", "true")
		Expect(env.Cluster.Ceph().CreateFilesystem(ctx, "third")).To(Succeed())
		set(ctx, driver.CephFS, "missingPools", "Create")
		newClass(ctx, driver.CephFS, "third", map[string]string{"fsName": "third"})
		protected(ctx, "third-data", cephFSUser)
		says(ctx, driver.CephFS, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")

		Expect(env.Cluster.Ceph().AddMDS(ctx, "b")).To(Succeed())
		// Without an active MDS, the next command would keep the mgr from everybody.
		Eventually(func(g Gomega) {
			all, err := cephtypes.ParseFileSystems(ceph(ctx, "fs", "dump", "--format", "json"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(slices.ContainsFunc(all, func(f cephtypes.FileSystem) bool { return f.Name == "third" && f.Active })).To(BeTrue())
		}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		Eventually(func(g Gomega) {
			out, err := env.Cluster.Ceph().Command(ctx, "fs", "subvolumegroup", "ls", "third", "--format", "json")
			g.Expect(err).NotTo(HaveOccurred())
			groups, err := cephtypes.ParseSubvolumeGroups(out)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(groups).To(ConsistOf(infraID))
		}).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).Should(Succeed())
		env.Settle(ctx)
		set(ctx, driver.CephFS, "missingPools", nil)
		deleteClass(ctx, "third")
		released(ctx, "third-data")
		released(ctx, "third-metadata")
		says(ctx, driver.CephFS, "StorageClassesUsable", operatorv1.ConditionTrue, "AsExpected")
		protected(ctx, cephdaemons.Filesystem+"-data", cephFSUser)
	})
}
