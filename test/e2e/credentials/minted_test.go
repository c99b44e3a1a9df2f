package credentials

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephrelease"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	// claims are the pools that have this cluster's claim.
	claims = "allow rwx tag rbd storage.openshift.io.nodelete." + infraID + ".rbd=in-use, " +
		"allow rwx tag rbd storage.openshift.io.nodelete." + infraID + ".rbd=unprotected, "
	// at is what users ask the mgr about.
	at      = " with vol_name=myfs group_name=" + infraID
	mounted = " with vol_name=myfs key_name prefix .cephfs.csi.ceph.com/userid/ group_name=" + infraID
)

// managed are the commands of the mgr that controllers may send; pkg/driver's own tests list them.
func managed() string {
	caps, err := driver.CephFS.Rights.Caps(context.Background(), anyFilesystem{}, "", []driver.Used{{Placement: cephtypes.Placement{Filesystem: "myfs", SubvolumeGroup: infraID}}})
	if err != nil {
		panic(err)
	}
	return caps.Provisioner.Mgr
}

// anyFilesystem has them by the names that are asked for.
type anyFilesystem struct{ driver.Lists }

func (anyFilesystem) FileSystems(context.Context) ([]cephtypes.FileSystem, error) { return nil, nil }

// journals are a right to the journal of all filesystems with this cluster's claim.
func journals(right string) string {
	tag := "allow " + right + " namespace=" + infraID + " tag cephfs "
	claim := "storage.openshift.io.nodelete." + infraID + ".cephfs="
	return tag + "metadata=myfs, " + tag + claim + "in-use, " + tag + claim + "unprotected"
}

var (
	ownImages = map[string]string{"mon": "profile rbd", "mgr": "profile rbd pool=" + ownPool, "osd": claims + "profile rbd pool=" + ownPool}
	// fastToo are the caps once a StorageClass names pool "fast".
	fastToo = map[string]string{
		"mon": "profile rbd",
		"mgr": "profile rbd pool=" + ownPool + ", profile rbd pool=fast",
		"osd": claims + "profile rbd pool=" + ownPool + ", profile rbd pool=fast",
	}

	// caps are those that the users have when there are only the default StorageClasses.
	caps = map[string]map[string]string{
		driver.RBD.ProvisionerUser(infraID): ownImages,
		driver.RBD.NodeUser(infraID):        ownImages,
		driver.CephFS.ProvisionerUser(infraID): {
			"mon": "allow r", "mgr": managed(), "osd": journals("rw"),
		},
		driver.CephFS.NodeUser(infraID): {
			"mon": "allow r", "mds": "allow rw fsname=myfs path=/volumes/" + infraID,
			"mgr": `allow command "fs subvolume info"` + at + `, allow command "fs subvolume metadata set"` + mounted +
				`, allow command "fs subvolume snapshot info"` + at + `, allow command "fs subvolume snapshot metadata set"` + mounted,
			"osd": journals("r") + ", allow rw tag cephfs data=myfs",
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
			Expect(env.Condition(ctx, Default, d, "CredentialsMinted").Status).NotTo(Equal(operatorv1.ConditionFalse))
		}
	})

	It("have keys of a type that the nodes know, or the nodes are named that may not", func(ctx SpecContext) {
		weak := ContainSubstring(oldKernels)
		if cephrelease.KeyType() == string(cephtypes.AES) {
			weak = Not(weak)
		}
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, d, "CredentialsMinted").Message).To(weak)
			}).WithContext(ctx).Should(Succeed())
			_, key := secretUser(ctx, Default, d.NodeSecret())
			Expect(string(cephtypes.NewKey(key).Type())).To(Equal(cephrelease.KeyType()))
			AddReportEntry(env.Condition(ctx, Default, d, "CredentialsMinted").Message)
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

	It("reach subvolumes of the cluster's group alone, from the controllers only", func(ctx SpecContext) {
		out, err := as(ctx, driver.CephFS.ProvisionerSecret(), "ceph", "fs", "subvolume", "create", "myfs", "a", infraID)
		Expect(err).NotTo(HaveOccurred(), out)
		out, err = as(ctx, driver.CephFS.NodeSecret(), "ceph", "fs", "subvolume", "create", "myfs", "b", infraID)
		Expect(err).To(HaveOccurred(), out)
		for _, command := range [][]string{{"create", "myfs", "c"}, {"create", "myfs", "c", "csi"}, {"rm", "myfs", "c", "csi", "--force"}} {
			out, err = as(ctx, driver.CephFS.ProvisionerSecret(), "ceph", append([]string{"fs", "subvolume"}, command...)...)
			Expect(err).To(HaveOccurred(), out)
			Expect(out).To(ContainSubstring("EACCES"))
		}
	})

	It("tell nodes where a subvolume and a snapshot are, and nothing of a neighbour's", func(ctx SpecContext) {
		ceph(ctx, "fs", "subvolumegroup", "create", "myfs", "neighbour")
		for _, group := range []string{infraID, "neighbour"} {
			ceph(ctx, "fs", "subvolume", "create", "myfs", "n", group)
			ceph(ctx, "fs", "subvolume", "snapshot", "create", "myfs", "n", "s", group)
			for _, command := range [][]string{
				{"fs", "subvolume", "info", "myfs", "n", group},
				{"fs", "subvolume", "snapshot", "info", "myfs", "n", "s", group},
			} {
				out, err := as(ctx, driver.CephFS.NodeSecret(), "ceph", command...)
				if group == infraID {
					Expect(err).NotTo(HaveOccurred(), out)
				} else {
					Expect(err).To(HaveOccurred(), "a neighbour's is told: %s", out)
				}
			}
		}
		for _, command := range [][]string{
			{"fs", "subvolume", "ls", "myfs", infraID},
			{"fs", "subvolume", "rm", "myfs", "n", infraID, "--force"},
			{"fs", "subvolume", "resize", "myfs", "n", "1048576", infraID},
			{"osd", "pool", "application", "set", "forbidden", "rbd", "k", "v"},
		} {
			out, err := as(ctx, driver.CephFS.NodeSecret(), "ceph", command...)
			Expect(err).To(HaveOccurred(), out)
		}
		for namespace, reads := range map[string]bool{infraID: true, "csi": false, "": false, "neighbour": false} {
			out, err := as(ctx, driver.CephFS.NodeSecret(), "rados", "-p", "myfs-metadata", "--namespace", namespace, "ls")
			Expect(err == nil).To(Equal(reads), "namespace %q: %s", namespace, out)
			out, err = as(ctx, driver.CephFS.NodeSecret(), "rados", "-p", "myfs-metadata", "--namespace", namespace, "create", "x")
			Expect(err).To(HaveOccurred(), "the journal is the controllers' to write: %s", out)
		}
		out, err := as(ctx, driver.CephFS.ProvisionerSecret(), "rados", "-p", "myfs-metadata", "--namespace", infraID, "create", "x")
		Expect(err).NotTo(HaveOccurred(), out)
	})

	It("reach a pool that is added while a driver runs, over the connection that it has", func(ctx SpecContext) {
		running := map[string]*volumes.Cluster{}
		for _, secret := range []string{driver.RBD.ProvisionerSecret(), driver.RBD.NodeSecret()} {
			id, key := secretUser(ctx, Default, secret)
			conn, err := volumes.OpenAs(env.Cluster.Ceph().ConfFile(), id, key)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(conn.Close)
			running[secret] = conn.Cluster(infraID, uint64(len(running)))
			_, err = running[secret].Image(classIn(ownPool), "warm")
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(env.Cluster.Ceph().CreatePool(ctx, "late", "rbd")).To(Succeed())
		begin := time.Now()
		makeClass(ctx, "late", "late")
		for _, secret := range []string{driver.RBD.ProvisionerSecret(), driver.RBD.NodeSecret()} {
			work := running[secret]
			var image *volumes.Image
			tries := 0
			Eventually(func(g Gomega) {
				var err error
				tries++
				image, err = work.Image(classIn("late"), fmt.Sprintf("late-%d", tries))
				g.Expect(err).NotTo(HaveOccurred())
			}).WithContext(ctx).WithPolling(time.Second).WithTimeout(fixture.Soon).Should(Succeed())
			AddReportEntry("an image of " + secret + " after " + time.Since(begin).String())
			snapshot, err := work.ImageSnapshot(image, "late")
			Expect(err).NotTo(HaveOccurred())
			_, err = work.Restore(snapshot, classIn("late"), "restored")
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry("its snapshot's restored image after " + time.Since(begin).String())
			_, err = work.Image(classIn("forbidden"), "late")
			Expect(err).To(HaveOccurred())
		}

		By("losing it with the claim, at once")
		ceph(ctx, "osd", "pool", "application", "rm", ownPool, "rbd", "storage.openshift.io.nodelete."+infraID+".rbd")
		Eventually(func(g Gomega) {
			out := ceph(ctx, "osd", "pool", "application", "get", ownPool)
			g.Expect(string(out)).To(ContainSubstring("in-use"), "the operator puts it back")
		}).WithContext(ctx).WithTimeout(aMinute).WithPolling(fixture.CephPolling).Should(Succeed())
		Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, "late", metav1.DeleteOptions{})).To(Succeed())
		env.Operator(driver.RBD).Kill()
		Expect(env.Operator(driver.RBD).Restart()).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, driver.RBD, "VolumesSafe").Message).To(ContainSubstring("image late/"), "images are left that are this cluster's")
		}).WithContext(ctx).WithTimeout(aMinute).Should(Succeed())
		disown(ctx, "late")
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Patience).Should(Succeed())
	})

	It("get the rights to a StorageClass's pool at once, and lose them when all is gone", func(ctx SpecContext) {
		begin := time.Now()
		makeClass(ctx, "mine", "fast")
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
		env.Operator(driver.RBD).Kill()
		Expect(env.Operator(driver.RBD).Restart()).To(Succeed())
		Eventually(asMinted).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Patience).Should(Succeed())
	})
}

// disown takes the tags off all images of a pool.
func disown(ctx context.Context, pool string) {
	GinkgoHelper()
	images, err := env.Cluster.Ceph().RBD(ctx, "ls", pool)
	Expect(err).NotTo(HaveOccurred())
	for image := range strings.FieldsSeq(string(images)) {
		_, err := env.Cluster.Ceph().RBD(ctx, "image-meta", "remove", pool+"/"+image, cephtypes.TagCluster)
		Expect(err).NotTo(HaveOccurred())
	}
}

func classIn(pool string) volumes.Class {
	return volumes.Class{Place: volumes.Place{Pool: pool}, Features: volumes.Layering}
}

// makeClass makes one like the default, with another pool.
func makeClass(ctx context.Context, name, pool string) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, driver.RBD.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	mine := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: class.Provisioner, Parameters: class.Parameters}
	mine.Parameters["pool"] = pool
	_, err = env.Kube.StorageV1().StorageClasses().Create(ctx, mine, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
