package credentials

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	ownImages = map[string]string{"mon": "profile rbd", "mgr": "profile rbd pool=" + ownPool, "osd": "profile rbd pool=" + ownPool}
	// fastToo are the caps once a StorageClass names pool "fast".
	fastToo = map[string]string{
		"mon": "profile rbd",
		"mgr": "profile rbd pool=" + ownPool + ", profile rbd pool=fast",
		"osd": "profile rbd pool=" + ownPool + ", profile rbd pool=fast",
	}

	// caps are those that the users have when there are only the default StorageClasses.
	caps = map[string]map[string]string{
		driver.RBD.ProvisionerUser(infraID): ownImages,
		driver.RBD.NodeUser(infraID):        ownImages,
		driver.CephFS.ProvisionerUser(infraID): {
			"mon": "allow r", "mgr": "allow module volumes rw", "osd": "allow rw pool=myfs-metadata namespace=csi",
		},
		driver.CephFS.NodeUser(infraID): {
			"mon": "allow r", "osd": "allow rw tag cephfs data=myfs", "mds": "allow rw fsname=myfs path=/volumes/csi",
		},
	}
)

// asMinted says that all is as it should be where the operator makes the users.
func asMinted(g Gomega, ctx context.Context) {
	GinkgoHelper()
	users := cephUsers(ctx, g)
	for id, want := range caps {
		g.Expect(users[id].Caps).To(Equal(want), id)
	}
	for _, d := range driver.All {
		secretsHave(ctx, g, users, d, d.ProvisionerUser(infraID), d.NodeUser(infraID))
	}
	g.Expect(users[stranger].Caps).To(Equal(map[string]string{"mon": "allow r"}))
}

func minted() {
	It("have the narrowest caps, and stand in the Secrets", func(ctx SpecContext) {
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Soon).Should(Succeed())
		for _, d := range driver.All {
			c := env.Condition(ctx, Default, d, "CredentialsMinted")
			Expect(string(c.Status)).To(Equal("True"))
			Expect(c.Message).To(And(ContainSubstring("client."+d.ProvisionerUser(infraID)), ContainSubstring("client."+d.NodeUser(infraID))))
		}
	})

	It("reach their pool and no other", func(ctx SpecContext) {
		out, err := as(ctx, driver.RBD.ProvisionerSecret(), "rbd", "create", "--size", "1M", ownPool+"/a")
		Expect(err).NotTo(HaveOccurred(), out)
		out, err = as(ctx, driver.RBD.NodeSecret(), "rbd", "info", ownPool+"/a")
		Expect(err).NotTo(HaveOccurred(), out)
		for _, secret := range []string{driver.RBD.ProvisionerSecret(), driver.RBD.NodeSecret()} {
			out, err = as(ctx, secret, "rbd", "create", "--size", "1M", "forbidden/a")
			Expect(err).To(HaveOccurred(), out)
			_, err = as(ctx, secret, "ceph", "auth", "ls")
			Expect(err).To(HaveOccurred(), "no key may be read")
		}
	})

	It("reach subvolumes from the controllers only", func(ctx SpecContext) {
		out, err := as(ctx, driver.CephFS.ProvisionerSecret(), "ceph", "fs", "subvolume", "create", "myfs", "a", "csi")
		Expect(err).NotTo(HaveOccurred(), out)
		out, err = as(ctx, driver.CephFS.NodeSecret(), "ceph", "fs", "subvolume", "create", "myfs", "b", "csi")
		Expect(err).To(HaveOccurred(), out)
	})

	It("get the rights to a StorageClass's pool at once, and lose them when all is gone", func(ctx SpecContext) {
		class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, driver.RBD.StorageClass, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		mine := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Provisioner: class.Provisioner, Parameters: class.Parameters}
		mine.Parameters["pool"] = "fast"
		begin := time.Now()
		_, err = env.Kube.StorageV1().StorageClasses().Create(ctx, mine, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		widened := func(g Gomega) {
			for _, id := range []string{driver.RBD.ProvisionerUser(infraID), driver.RBD.NodeUser(infraID)} {
				g.Expect(cephUser(ctx, g, id).Caps).To(Equal(fastToo))
			}
		}
		Eventually(widened).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Soon).Should(Succeed())
		AddReportEntry("caps after the StorageClass", time.Since(begin).String())
		out, err := as(ctx, driver.RBD.ProvisionerSecret(), "rbd", "create", "--size", "1M", "fast/a")
		Expect(err).NotTo(HaveOccurred(), out)
		for _, image := range []string{"fast/a", ownPool + "/a"} {
			out, err = as(ctx, driver.RBD.ProvisionerSecret(), "ceph", "rbd", "task", "add", "remove", image)
			Expect(err).NotTo(HaveOccurred(), "the mgr has to flatten and remove images: %s", out)
		}

		Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, "mine", metav1.DeleteOptions{})).To(Succeed())
		Consistently(widened).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Undisturbed).Should(Succeed())
		env.Operator(driver.RBD).Kill()
		Expect(env.Operator(driver.RBD).Restart()).To(Succeed())
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Patience).Should(Succeed())
	})
}
