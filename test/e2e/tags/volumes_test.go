package tags

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	pool = "vols"
	// group is also the namespace of the journal.
	group = infraID
	// claims is the namespace of the claims.
	claims = metav1.NamespaceDefault
)

// kind is how volumes of a driver are laid out, as ceph-csi does it, and read.
type kind struct {
	driver   driver.Driver
	location func(ctx context.Context) int64
	// make makes a volume without tags, and its journal.
	make func(ctx context.Context, uuid string) error
	// set is what another client does to the metadata.
	set  func(ctx context.Context, uuid, key, value string) error
	read func(ctx context.Context, uuid string) (map[string]string, error)
	// version changes with every write to the metadata, where Ceph tells it.
	version func(ctx context.Context, uuid string) uint64
	// take makes a volume of a cluster and takes a snapshot of it.
	take func(cluster *volumes.Cluster, name string) (taken, error)
}

var kinds = []kind{
	{driver: driver.RBD, location: poolID, make: makeImage, set: setImage, read: readImage, version: imageVersion, take: takeImage},
	{driver: driver.CephFS, location: filesystemID, make: makeSubvolume, set: setSubvolume, read: readSubvolume,
		version: func(context.Context, string) uint64 { return 0 }, take: takeSubvolume},
}

func prepare(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Cluster.Ceph().CreatePool(ctx, pool, "rbd")).To(Succeed())
	// The mgr sees a new filesystem a moment after the mons.
	Eventually(conn.EnsureSubvolumeGroup).WithContext(ctx).WithArguments(cephdaemons.Filesystem, group).Should(Succeed())
}

func poolID(ctx context.Context) int64 {
	GinkgoHelper()
	pools, err := conn.Pools(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, p := range pools {
		if p.Name == pool {
			return p.ID
		}
	}
	Fail("pool " + pool + " is gone")
	return 0
}

func filesystem(ctx context.Context) ceph.FileSystem {
	GinkgoHelper()
	filesystems, err := conn.FileSystems(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(filesystems).To(HaveLen(1))
	return filesystems[0]
}

func filesystemID(ctx context.Context) int64 { return filesystem(ctx).ID }

func imageOf(uuid string) ceph.ImagePlace {
	return ceph.ImagePlace{Pool: pool, Name: "csi-vol-" + uuid}
}

func makeImage(ctx context.Context, uuid string) error {
	if _, err := env.Cluster.Ceph().RBD(ctx, "create", "--size", "64M", "--image-feature", "layering", imageOf(uuid).String()); err != nil {
		return err
	}
	return makeJournal(ctx, pool, "", uuid, imageOf(uuid).Name)
}

func makeJournal(ctx context.Context, pool, namespace, uuid, name string) error {
	_, err := env.Cluster.Ceph().RADOS(ctx, "-p", pool, "--namespace", namespace, "setomapval", "csi.volume."+uuid, "csi.imagename", name)
	return err
}

func setImage(ctx context.Context, uuid, key, value string) error {
	_, err := env.Cluster.Ceph().RBD(ctx, "image-meta", "set", imageOf(uuid).String(), key, value)
	return err
}

func readImage(ctx context.Context, uuid string) (map[string]string, error) {
	metadata, err := conn.ImageMetadata(ctx, imageOf(uuid))
	return metadata.Values, err
}

func imageVersion(ctx context.Context, uuid string) uint64 {
	GinkgoHelper()
	metadata, err := conn.ImageMetadata(ctx, imageOf(uuid))
	Expect(err).NotTo(HaveOccurred())
	return metadata.Version
}

func subvolumeOf(uuid string) ceph.SubvolumePlace {
	return ceph.SubvolumePlace{Filesystem: cephdaemons.Filesystem, Group: group, Name: "csi-vol-" + uuid}
}

func makeSubvolume(ctx context.Context, uuid string) error {
	at := subvolumeOf(uuid)
	if _, err := env.Cluster.Ceph().Command(ctx, "fs", "subvolume", "create", at.Filesystem, at.Name, "--group_name", at.Group); err != nil {
		return err
	}
	pools, err := conn.Pools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		if p.ID == filesystem(ctx).MetadataPool {
			return makeJournal(ctx, p.Name, group, uuid, at.Name)
		}
	}
	return fmt.Errorf("filesystem %s has no metadata pool", at.Filesystem)
}

func setSubvolume(ctx context.Context, uuid, key, value string) error {
	at := subvolumeOf(uuid)
	_, err := env.Cluster.Ceph().Command(ctx, "fs", "subvolume", "metadata", "set", at.Filesystem, at.Name, key, value, "--group_name", at.Group)
	return err
}

func readSubvolume(ctx context.Context, uuid string) (map[string]string, error) {
	found, err := conn.SubvolumeMetadata(ctx, cephdaemons.Filesystem, []ceph.SubvolumePlace{subvolumeOf(uuid)})
	if err != nil {
		return nil, err
	}
	return found[0].Values, found[0].Err
}

// makers is how many tools work at the same time: each is a process that connects to Ceph.
const makers = 4

func (k kind) makeAll(ctx context.Context, uuids ...string) {
	GinkgoHelper()
	var all errgroup.Group
	all.SetLimit(makers)
	for _, uuid := range uuids {
		all.Go(func() error { return k.make(ctx, uuid) })
	}
	Expect(all.Wait()).To(Succeed())
}

// uuid tells volumes of all specs apart.
func (k kind) uuid(spec, i int) string {
	return fmt.Sprintf("6e696bba-064f-11ec-%04d-%012d", spec, i)
}

// volume creates a PersistentVolume of a volume, as an external provisioner would.
func (k kind) volume(ctx context.Context, name, uuid string, policy corev1.PersistentVolumeReclaimPolicy) *corev1.PersistentVolume {
	GinkgoHelper()
	fsid := env.Cluster.Ceph().FSID()
	pv, err := env.Kube.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: policy,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: k.driver.Name, VolumeHandle: fmt.Sprintf("0001-%04x-%s-%016x-%s", len(fsid), fsid, k.location(ctx), uuid),
				VolumeAttributes: map[string]string{"clusterID": fsid},
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pv
}

// claim binds a PersistentVolume.
func claim(ctx context.Context, name, volume string) {
	GinkgoHelper()
	_, err := env.Kube.CoreV1().PersistentVolumeClaims(claims).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: volume, StorageClassName: ptr.To(""),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func remove(ctx context.Context, volume string) {
	GinkgoHelper()
	Expect(env.Kube.CoreV1().PersistentVolumes().Delete(ctx, volume, metav1.DeleteOptions{})).To(Succeed())
}
