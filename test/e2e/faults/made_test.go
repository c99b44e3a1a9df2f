package faults

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// made is a volume with a snapshot that is there all the time.
type made struct {
	pool, pv, handle, snapshot string
	// tags are those of the snapshot.
	tags map[string]string
	// remove removes both from Ceph.
	remove func() error
}

var (
	// volumeOf is that of a driver, by its name.
	volumeOf = map[string]made{}
	// csi lays out as ceph-csi does what maker makes.
	csi   *volumes.Ceph
	maker *volumes.Cluster
)

var makers = map[string]func(pool string) (made, error){
	driver.RBD.Name: func(pool string) (made, error) {
		image, err := maker.Image(volumes.Class{Place: volumes.Place{Pool: pool}, Features: volumes.Layering}, "image")
		if err != nil {
			return made{}, err
		}
		s, err := maker.ImageSnapshot(image, "of-image")
		if err != nil {
			return made{}, err
		}
		return made{pool, image.PV(), image.Handle(), s.Handle(), s.Tags(), func() error { return removeBoth(s.Delete, image.Delete) }}, nil
	},
	driver.CephFS.Name: func(pool string) (made, error) {
		const group = embedded.DefaultInfrastructureName
		subvolume, err := maker.Subvolume(volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: group, Namespace: group}, "subvolume")
		if err != nil {
			return made{}, err
		}
		s, err := maker.SubvolumeSnapshot(subvolume, "of-subvolume")
		if err != nil {
			return made{}, err
		}
		handle, err := subvolume.Handle()
		if err != nil {
			return made{}, err
		}
		snapshot, err := s.Handle()
		return made{pool, subvolume.PV(), handle, snapshot, s.Tags(), func() error { return removeBoth(s.Delete, subvolume.Delete) }}, err
	},
}

func removeBoth(snapshot, volume func() error) error {
	if err := snapshot(); err != nil {
		return err
	}
	return volume()
}

// createVolumes makes them, each with a snapshot, as ceph-csi, the provisioner and the snapshotter do.
func createVolumes(ctx context.Context) {
	GinkgoHelper()
	Expect(csi.Hurry()).To(Succeed())
	maker = csi.Cluster(embedded.DefaultInfrastructureName, 1)
	for _, d := range driver.All {
		class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		v, err := makers[d.Name](class.Parameters["pool"])
		Expect(err).NotTo(HaveOccurred())
		createVolume(ctx, d, v.pv, v.handle)
		_, err = env.Snapshots.SnapshotV1().VolumeSnapshotContents().Create(ctx, &snapshotv1.VolumeSnapshotContent{
			ObjectMeta: metav1.ObjectMeta{Name: v.tags[ceph.TagSnapshotContent]},
			Spec: snapshotv1.VolumeSnapshotContentSpec{
				Driver: d.Name, DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain,
				Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: ptr.To(v.snapshot)},
				VolumeSnapshotRef: corev1.ObjectReference{Namespace: v.tags[ceph.TagSnapshotNamespace], Name: v.tags[ceph.TagSnapshot]},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		volumeOf[d.Name] = v
	}
}

func deleteVolumes(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		v := volumeOf[d.Name]
		Expect(env.Kube.CoreV1().PersistentVolumes().Delete(ctx, v.pv, metav1.DeleteOptions{})).To(Succeed())
		Expect(env.Snapshots.SnapshotV1().VolumeSnapshotContents().Delete(ctx, v.tags[ceph.TagSnapshotContent], metav1.DeleteOptions{})).To(Succeed())
		Expect(inTime("removing "+v.pv+" from Ceph", v.remove)).To(Succeed())
	}
	maker = nil
}

// dumpVolumes is all that Ceph has of these volumes, and of the neighbour's: data, tags and journals.
func dumpVolumes(g Gomega) volumes.Dump {
	pools, words := []string{neighbour}, theirs.Words()
	if maker != nil {
		pools, words = append(pools, volumeOf[driver.RBD.Name].pool), append(words, maker.Words()...)
	}
	var all volumes.Dump
	err := inTime("reading the volumes in Ceph", func() (err error) {
		all, err = csi.Dump(pools, cephdaemons.Filesystem)
		return err
	})
	g.Expect(err).NotTo(HaveOccurred())
	return all.About(words...)
}

// answered is how long Ceph may take for what the mgr may leave unanswered for ever.
const answered = 30 * time.Second

// unanswered are such questions, on a connection that cannot be closed any more.
var unanswered atomic.Int32

func inTime(what string, do func() error) error {
	done := make(chan error, 1)
	unanswered.Add(1)
	go func() {
		done <- do()
		unanswered.Add(-1)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(answered):
		return fmt.Errorf("%s: no answer within %v", what, answered)
	}
}
