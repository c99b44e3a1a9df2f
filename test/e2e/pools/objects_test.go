package pools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const keyPrefix = "storage.openshift.io.nodelete"

func ceph(ctx context.Context, arguments ...string) []byte {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// pool is what Ceph has of a pool; Name is empty when there is none.
func pool(ctx context.Context, g Gomega, name string) cephtypes.Pool {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	pools, err := cephtypes.ParsePools(out)
	g.Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(pools, func(p cephtypes.Pool) bool { return p.Name == name })
	if i < 0 {
		return cephtypes.Pool{}
	}
	return pools[i]
}

func newPool(ctx context.Context, name string) cephtypes.Pool {
	GinkgoHelper()
	Expect(env.Cluster.Ceph().CreatePool(ctx, name, "rbd")).To(Succeed())
	return pool(ctx, Default, name)
}

// users are the keys that say who uses a pool, without our prefix; "" is the claim.
func users(p cephtypes.Pool) []string {
	var out []string
	for _, keys := range p.Metadata {
		for key := range keys {
			if user, ours := strings.CutPrefix(key, keyPrefix); ours {
				out = append(out, strings.TrimPrefix(user, "."))
			}
		}
	}
	slices.Sort(out)
	return out
}

// protected waits until a pool has the flag, and exactly these users.
func protected(ctx context.Context, name string, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		p := pool(ctx, g, name)
		g.Expect(users(p)).To(ConsistOf(append(want, "")), name)
		g.Expect(p.NoDelete).To(BeTrue(), name)
	}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
}

// released waits until a pool has neither flag nor keys of ours.
func released(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		p := pool(ctx, g, name)
		g.Expect(p.NoDelete).To(BeFalse(), name)
		g.Expect(users(p)).To(BeEmpty(), name)
	}).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).Should(Succeed())
}

func newClass(ctx context.Context, d driver.Driver, name string, parameters map[string]string) {
	GinkgoHelper()
	all := map[string]string{"clusterID": env.Cluster.Ceph().FSID()}
	for key, value := range parameters {
		all[key] = value
	}
	_, err := env.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: d.Name, Parameters: all,
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func deleteClass(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// newVolume creates a PersistentVolume as an external provisioner would.
func newVolume(ctx context.Context, name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
	GinkgoHelper()
	pv, err := env.Kube.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        source,
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pv
}

func csi(d driver.Driver, location int64, attributes map[string]string) corev1.PersistentVolumeSource {
	fsid := env.Cluster.Ceph().FSID()
	handle := fmt.Sprintf("0001-%04x-%s-%016x-6e696bba-064f-11ec-a251-0242ac110002", len(fsid), fsid, location)
	return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: d.Name, VolumeHandle: handle, VolumeAttributes: attributes}}
}

func deleteVolume(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.Kube.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// newSnapshot creates a VolumeSnapshotContent of a snapshot that is there.
func newSnapshot(ctx context.Context, name string, d driver.Driver, location int64) {
	GinkgoHelper()
	_, err := env.Snapshots.SnapshotV1().VolumeSnapshotContents().Create(ctx, &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: d.Name, DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain,
			Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: ptr.To(csi(d, location, nil).CSI.VolumeHandle)},
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: metav1.NamespaceDefault, Name: name},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// set changes one of Ceph's settings; nil takes it back.
func set(ctx context.Context, d driver.Driver, field string, value any) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"driverConfig": map[string]any{
		"driverType": "Ceph", "ceph": map[string]any{field: value},
	}}})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Drivers.Patch(ctx, d.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// says waits for a condition whose message has all of texts.
func says(ctx context.Context, d driver.Driver, conditionType string, status operatorv1.ConditionStatus, reason string, texts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, conditionType)
		g.Expect(c.Status).To(Equal(status), "%s: %s", conditionType, c.Message)
		g.Expect(c.Reason).To(Equal(reason), c.Message)
		for _, text := range texts {
			g.Expect(c.Message).To(ContainSubstring(text))
		}
	}).WithContext(ctx).WithTimeout(twoLooks).Should(Succeed())
}
