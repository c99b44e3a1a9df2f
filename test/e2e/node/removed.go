package node

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// deleted is how long it may take until nothing is left: Ceph's mgr empties RBD's trash, and comes
// back to what a clone kept a minute later.
const deleted = 4 * time.Minute

// Removed deletes all that specs before it have left.
func Removed() {
	It("leaves nothing of volumes in Kubernetes when pods, snapshots and claims are deleted", func(ctx SpecContext) {
		begin := time.Now()
		for _, kind := range []string{"pods", "volumegroupsnapshots", "volumesnapshots", "persistentvolumeclaims"} {
			env.Kubectl(ctx, "delete", kind, "--all", "-n", metav1.NamespaceDefault, "--grace-period=2", "--timeout="+deleted.String())
			figure("all "+kind+" deleted", begin)
		}
		env.Kubectl(ctx, "delete", "storageclasses", "--selector="+copiedClass)
		env.Kubectl(ctx, "delete", "volumeattributesclasses", "--all", "--timeout="+deleted.String())
		removed = time.Now()
		Eventually(func(g Gomega) { g.Expect(volumeObjects(ctx, g)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(deleted).Should(Succeed())
	})
}

// removed is when the last claim was.
var removed time.Time

// Uninstalled is the end. It does not wait for the mgr, which empties RBD's trash once a minute.
func Uninstalled() {
	It("leaves nothing of ours when it is uninstalled", func(ctx SpecContext) {
		Expect(env.ProtectedPools(ctx, Default)).NotTo(BeEmpty())
		begin := time.Now()
		out, err := env.Command(ctx, "uninstall", "--yes")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Removed."))
		figure("uninstalled", begin)
		Expect(env.ProtectedPools(ctx, Default)).To(BeEmpty())
		Expect(claimKeys(ctx)).To(BeEmpty())
		Eventually(func(g Gomega) {
			g.Expect(env.LeftOvers(ctx, g)).To(ConsistOf(others))
			pods, err := env.Kube.CoreV1().Pods(driver.Namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods.Items).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})

	It("leaves nothing of deleted volumes in Ceph", func(ctx SpecContext) {
		Eventually(func(g Gomega) {
			g.Expect(inPools(ctx, g)).To(BeEmpty())
			g.Expect(subvolumes(ctx, g)).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(deleted).WithPolling(fixture.CephPolling).Should(Succeed())
		figure("nothing left in Ceph after all claims were deleted", removed)
	})
}

// volumeObjects are what Kubernetes has of volumes and snapshots, cluster-wide.
func volumeObjects(ctx context.Context, g Gomega) []string {
	GinkgoHelper()
	var out []string
	volumes, err := env.Kube.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, v := range volumes.Items {
		out = append(out, "PersistentVolume "+v.Name+" "+string(v.Status.Phase)+" "+v.Status.Message)
	}
	attachments, err := env.Kube.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, a := range attachments.Items {
		out = append(out, "VolumeAttachment "+a.Name)
	}
	contents, err := env.Snapshots.SnapshotV1().VolumeSnapshotContents().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range contents.Items {
		out = append(out, "VolumeSnapshotContent "+c.Name)
	}
	return out
}

// inPools are the objects of ceph-csi's journals and of images, in all pools. ceph-csi makes a journal's object
// before it writes down whose it is; one that is killed between the two leaves an object without keys, which no
// request finds again (NOTE in ReserveName, ceph-csi internal/journal/voljournal.go): that is not of a volume.
func inPools(ctx context.Context, g Gomega) []string {
	GinkgoHelper()
	names, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls")
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, pool := range strings.Fields(string(names)) {
		objects, err := env.Cluster.Ceph().RADOS(ctx, "--pool", pool, "ls", "--all")
		g.Expect(err).NotTo(HaveOccurred(), pool)
		for line := range strings.Lines(string(objects)) {
			namespace, object, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			switch {
			case strings.HasPrefix(object, "rbd_header."):
				out = append(out, pool+" "+object)
			case strings.HasPrefix(object, "csi.volume."), strings.HasPrefix(object, "csi.snap."):
				keys, err := env.Cluster.Ceph().RADOS(ctx, "--pool", pool, "--namespace", namespace, "listomapkeys", object)
				g.Expect(err).NotTo(HaveOccurred(), pool)
				if keys := strings.Fields(string(keys)); len(keys) > 0 {
					out = append(out, pool+" "+object+" "+strings.Join(keys, ","))
				}
			}
		}
	}
	return out
}

// subvolumes are those of all groups, as "group/name".
func subvolumes(ctx context.Context, g Gomega) []string {
	GinkgoHelper()
	var all []string
	for _, group := range namesOf(ctx, g, "fs", "subvolumegroup", "ls", cephdaemons.Filesystem) {
		for _, name := range namesOf(ctx, g, "fs", "subvolume", "ls", cephdaemons.Filesystem, group) {
			all = append(all, group+"/"+name)
		}
	}
	return all
}

// namesOf are what a command of Ceph lists.
func namesOf(ctx context.Context, g Gomega, command ...string) []string {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, append(command, "--format", "json")...)
	g.Expect(err).NotTo(HaveOccurred())
	var found []struct{ Name string }
	g.Expect(json.Unmarshal(out, &found)).To(Succeed())
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	return names
}

// claimKeys are what pools say about who uses them.
func claimKeys(ctx context.Context) []string {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	Expect(err).NotTo(HaveOccurred())
	var pools []struct {
		Name         string                       `json:"pool_name"`
		Applications map[string]map[string]string `json:"application_metadata"`
	}
	Expect(json.Unmarshal(out, &pools)).To(Succeed())
	var keys []string
	for _, p := range pools {
		for _, metadata := range p.Applications {
			for key := range metadata {
				if strings.HasPrefix(key, "storage.openshift.io") {
					keys = append(keys, p.Name+" "+key)
				}
			}
		}
	}
	return keys
}
