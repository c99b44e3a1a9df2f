package trouble

import (
	"context"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// someoneElses is an object that has the name of one of ours.
type someoneElses struct {
	what      string
	condition string
	reason    string
	create    func(ctx context.Context, d driver.Driver) (metav1.Object, error)
	get       func(ctx context.Context, d driver.Driver) (metav1.Object, error)
	remove    func(ctx context.Context, d driver.Driver) error
}

var strangers = []someoneElses{
	{
		what: "StorageClass of another provisioner", condition: "StorageClassesUsable", reason: "ForeignClass",
		create: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: d.StorageClass}, Provisioner: "example.com/other",
			}, metav1.CreateOptions{})
		},
		get: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		},
		remove: func(ctx context.Context, d driver.Driver) error {
			return env.Kube.StorageV1().StorageClasses().Delete(ctx, d.StorageClass, metav1.DeleteOptions{})
		},
	},
	{
		what: "VolumeSnapshotClass without our mark", condition: "StorageClassesUsable", reason: "ForeignClass",
		create: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Create(ctx, &snapshotv1.VolumeSnapshotClass{
				ObjectMeta: metav1.ObjectMeta{Name: d.SnapshotClass}, Driver: d.Name, DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain,
			}, metav1.CreateOptions{})
		},
		get: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Get(ctx, d.SnapshotClass, metav1.GetOptions{})
		},
		remove: func(ctx context.Context, d driver.Driver) error {
			return env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Delete(ctx, d.SnapshotClass, metav1.DeleteOptions{})
		},
	},
	{
		what: "CSIDriver of a Helm chart", condition: "CSIDriverManaged", reason: "ForeignCSIDriver",
		create: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Kube.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
				ObjectMeta: metav1.ObjectMeta{Name: d.Name, Annotations: map[string]string{"meta.helm.sh/release-name": "ceph-csi"}},
				Spec:       storagev1.CSIDriverSpec{AttachRequired: ptr.To(false)},
			}, metav1.CreateOptions{})
		},
		get: func(ctx context.Context, d driver.Driver) (metav1.Object, error) {
			return env.Kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{})
		},
		remove: func(ctx context.Context, d driver.Driver) error {
			return env.Kube.StorageV1().CSIDrivers().Delete(ctx, d.Name, metav1.DeleteOptions{})
		},
	},
}

func foreign() {
	for _, s := range strangers {
		It("leaves them alone and says so: "+s.what, func(ctx SpecContext) {
			killAll()
			theirs := map[string]metav1.Object{}
			for _, d := range driver.All {
				Expect(s.remove(ctx, d)).To(Succeed())
				var err error
				theirs[d.Name], err = s.create(ctx, d)
				Expect(err).NotTo(HaveOccurred())
			}
			restartAll()
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					c := env.Condition(ctx, g, d, s.condition)
					g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse), d.Name)
					g.Expect(c.Reason).To(Equal(s.reason), c.Message)
				}).WithContext(ctx).Should(Succeed())
			}
			AddReportEntry(env.Condition(ctx, Default, driver.RBD, s.condition).Message)
			// It is nothing that an administrator of the cluster must be woken for.
			env.Settle(ctx)
			Consistently(func(g Gomega) {
				for _, d := range driver.All {
					now, err := s.get(ctx, d)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(now.GetUID()).To(Equal(theirs[d.Name].GetUID()))
					g.Expect(now.GetResourceVersion()).To(Equal(theirs[d.Name].GetResourceVersion()))
				}
			}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())

			for _, d := range driver.All {
				Expect(s.remove(ctx, d)).To(Succeed())
			}
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					now, err := s.get(ctx, d)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(now.GetUID()).NotTo(Equal(theirs[d.Name].GetUID()))
					g.Expect(env.Condition(ctx, g, d, s.condition).Status).NotTo(Equal(operatorv1.ConditionFalse))
				}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed(), d.Name)
			}
			env.Settle(ctx)
		})
	}
}
