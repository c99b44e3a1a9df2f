package node

import (
	"context"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Copied has snapshots and clones.
func Copied() {
	sources := map[string]struct {
		volume claimed
		path   string
		// seed is what was written there.
		seed string
	}{
		driver.RBD.Kind:    {image, file, image.name},
		driver.CephFS.Kind: {shared, folder + "/" + nodes[0], nodes[0]},
	}
	It("restores a snapshot and clones a volume of each driver, with what was written", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			begin, of := time.Now(), sources[d.Kind]
			snapshot(ctx, of.volume.name, d.SnapshotClass)
			figure(d.Kind+" snapshot ready", begin)
			for name, source := range map[string]*corev1.TypedLocalObjectReference{
				"restored": {APIGroup: ptr.To(snapshotv1.GroupName), Kind: "VolumeSnapshot", Name: of.volume.name},
				"cloned":   {Kind: "PersistentVolumeClaim", Name: of.volume.name},
			} {
				begin, c := time.Now(), of.volume
				c.name, c.source = name+"-"+of.volume.name, source
				claim(ctx, c)
				expectBound(ctx, c.name)
				figure(d.Kind+" "+name+" bound", begin)
				pod := hold(ctx, c, nodes[0])
				figure(d.Kind+" "+name+" mounted", begin)
				do(ctx, pod, "verify", of.path, mebibyte, of.seed)
				end(ctx, pod)
			}
		})
	})
}

// snapshot makes one of the claim, of the same name, and returns when it is ready.
func snapshot(ctx context.Context, of, class string) {
	GinkgoHelper()
	snapshotWithin(ctx, of, class, patience)
}

func snapshotWithin(ctx context.Context, of, class string, limit time.Duration) {
	GinkgoHelper()
	all := env.Snapshots.SnapshotV1().VolumeSnapshots(metav1.NamespaceDefault)
	_, err := all.Create(ctx, &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: of},
		Spec: snapshotv1.VolumeSnapshotSpec{
			VolumeSnapshotClassName: &class, Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &of},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		s, err := all.Get(ctx, of, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Status).NotTo(BeNil())
		g.Expect(s.Status.ReadyToUse).To(HaveValue(BeTrue()), "%+v", s.Status.Error)
	}).WithContext(ctx).WithTimeout(limit).Should(Succeed())
}
