package node

import (
	"context"
	"time"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// groupLabel says which group a claim is of.
const groupLabel = "group"

// Grouped has snapshots of several volumes at once.
func Grouped() {
	for _, d := range driver.All {
		It("takes a snapshot of two volumes at once, and restores both: "+d.Name, func(ctx SpecContext) {
			skipWithoutGroups(ctx, d)
			members := group(ctx, d)
			for _, c := range members {
				pod := hold(ctx, c, nodes[0])
				do(ctx, pod, "write", file, mebibyte, c.name)
				end(ctx, pod)
			}
			begin := time.Now()
			groupSnapshot(ctx, d)
			Eventually(func(g Gomega) {
				s := groupSnapshotStatus(ctx, g, d)
				g.Expect(s.ReadyToUse).To(HaveValue(BeTrue()), "%+v", s.Error)
			}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
			figure("snapshot of a group of "+d.Kind+" volumes ready", begin)
			for _, of := range members {
				c := of
				c.name, c.labels = "restored-"+of.name, nil
				c.source = &corev1.TypedLocalObjectReference{APIGroup: ptr.To(snapshotv1.GroupName), Kind: "VolumeSnapshot", Name: memberSnapshot(ctx, of)}
				claim(ctx, c)
				pod := hold(ctx, c, nodes[1])
				do(ctx, pod, "verify", file, mebibyte, of.name)
				end(ctx, pod)
			}
		})
	}
}

// skipWithoutGroups skips a driver for which Ceph is too old: it has no class.
func skipWithoutGroups(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	release, err := env.Cluster.Ceph().Version(ctx)
	Expect(err).NotTo(HaveOccurred())
	if !d.QuiescesGroups || ceph.Quiesces(release) {
		return
	}
	_, err = env.Snapshots.GroupsnapshotV1().VolumeGroupSnapshotClasses().Get(ctx, d.SnapshotClass, metav1.GetOptions{})
	Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	Skip("Ceph " + release + " takes no snapshots of groups of " + d.Kind + " volumes, since 19.2 it does")
}

// group are two bound claims.
func group(ctx context.Context, d driver.Driver) []claimed {
	GinkgoHelper()
	var out []claimed
	for _, name := range []string{"one", "two"} {
		c := claimed{name: d.Kind + "-" + name, class: d.StorageClass, labels: map[string]string{groupLabel: d.Kind}}
		claim(ctx, c)
		out = append(out, c)
	}
	for _, c := range out {
		expectBound(ctx, c.name)
	}
	return out
}

// groupSnapshot asks for one of a driver's group, by the class that the operator has made.
func groupSnapshot(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	_, err := env.Snapshots.GroupsnapshotV1().VolumeGroupSnapshots(metav1.NamespaceDefault).Create(ctx, &groupv1.VolumeGroupSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: d.Kind},
		Spec: groupv1.VolumeGroupSnapshotSpec{
			VolumeGroupSnapshotClassName: ptr.To(d.SnapshotClass),
			Source:                       groupv1.VolumeGroupSnapshotSource{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{groupLabel: d.Kind}}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func groupSnapshotStatus(ctx context.Context, g Gomega, d driver.Driver) groupv1.VolumeGroupSnapshotStatus {
	GinkgoHelper()
	s, err := env.Snapshots.GroupsnapshotV1().VolumeGroupSnapshots(metav1.NamespaceDefault).Get(ctx, d.Kind, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Status).NotTo(BeNil())
	return *s.Status
}

// memberSnapshot is the one of a claim in its group's, once it can be used.
func memberSnapshot(ctx context.Context, c claimed) string {
	GinkgoHelper()
	volume := volumeOf(ctx, c.name)
	found := ""
	Eventually(func(g Gomega) {
		handles := memberHandles(ctx, g)
		g.Expect(handles).To(HaveKey(volume.Spec.CSI.VolumeHandle))
		contents, err := env.Snapshots.SnapshotV1().VolumeSnapshotContents().List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, content := range contents.Items {
			if content.Status != nil && ptr.Deref(content.Status.SnapshotHandle, "") == handles[volume.Spec.CSI.VolumeHandle] {
				found = content.Spec.VolumeSnapshotRef.Name
			}
		}
		g.Expect(found).NotTo(BeEmpty())
		s, err := env.Snapshots.SnapshotV1().VolumeSnapshots(metav1.NamespaceDefault).Get(ctx, found, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Status).NotTo(BeNil())
		g.Expect(s.Status.ReadyToUse).To(HaveValue(BeTrue()))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	return found
}

// memberHandles are those of snapshots in groups, by those of their volumes.
func memberHandles(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	contents, err := env.Snapshots.GroupsnapshotV1().VolumeGroupSnapshotContents().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string]string{}
	for _, content := range contents.Items {
		if content.Status == nil {
			continue
		}
		for _, info := range content.Status.VolumeSnapshotInfoList {
			out[info.VolumeHandle] = info.SnapshotHandle
		}
	}
	return out
}
