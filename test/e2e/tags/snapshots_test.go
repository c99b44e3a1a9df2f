package tags

import (
	"context"
	"maps"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// taken is a snapshot in Ceph.
type taken struct {
	handle string
	// tags are those that ceph-csi gives it.
	tags map[string]string
	// set adds keys to its metadata; an empty value removes one.
	set  func(map[string]string) error
	read func(ctx context.Context) (map[string]string, error)
}

func takeImage(cluster *volumes.Cluster, name string) (taken, error) {
	source, err := cluster.Image(volumes.Class{Place: volumes.Place{Pool: pool}, Features: volumes.Layering}, name)
	if err != nil {
		return taken{}, err
	}
	s, err := cluster.ImageSnapshot(source, name)
	if err != nil {
		return taken{}, err
	}
	return taken{s.Handle(), s.Tags(), s.SetMetadata, func(ctx context.Context) (map[string]string, error) {
		metadata, err := conn.ImageMetadata(ctx, ceph.ImagePlace{Pool: pool, Name: s.Name})
		return metadata.Values, err
	}}, nil
}

func takeSubvolume(cluster *volumes.Cluster, name string) (taken, error) {
	source, err := cluster.Subvolume(volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: group, Namespace: group}, name)
	if err != nil {
		return taken{}, err
	}
	s, err := cluster.SubvolumeSnapshot(source, name)
	if err != nil {
		return taken{}, err
	}
	handle, err := s.Handle()
	at := ceph.SubvolumePlace{Filesystem: cephdaemons.Filesystem, Group: group, Name: source.Name, Snapshot: s.Name}
	return taken{handle, s.Tags(), s.SetMetadata, func(ctx context.Context) (map[string]string, error) {
		found, err := conn.SubvolumeMetadata(ctx, cephdaemons.Filesystem, []ceph.SubvolumePlace{at})
		if err != nil {
			return nil, err
		}
		return found[0].Values, found[0].Err
	}}, err
}

// untag is as if the snapshot had been taken before there were tags.
func (s taken) untag() error {
	none := map[string]string{}
	for key := range s.tags {
		none[key] = ""
	}
	return s.set(none)
}

// has waits until the snapshot has exactly these tags.
func (s taken) has(ctx context.Context, want map[string]string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		got, err := s.read(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}).WithContext(ctx).WithPolling(polling).Should(Succeed())
}

// content is the VolumeSnapshotContent of a snapshot that the snapshotter took, or of one that an
// administrator imports.
func (s taken) content(ctx context.Context, d driver.Driver, imported bool) *snapshotv1.VolumeSnapshotContent {
	GinkgoHelper()
	content := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: s.tags[ceph.TagSnapshotContent]},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: d.Name, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: s.tags[ceph.TagSnapshotNamespace], Name: s.tags[ceph.TagSnapshot]},
			Source:            snapshotv1.VolumeSnapshotContentSource{VolumeHandle: ptr.To("volume")},
		},
	}
	if imported {
		content.Spec.Source = snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: &s.handle}
	}
	contents := env.Snapshots.SnapshotV1().VolumeSnapshotContents()
	made, err := contents.Create(ctx, content, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	if imported {
		return made
	}
	made.Status = &snapshotv1.VolumeSnapshotContentStatus{SnapshotHandle: &s.handle}
	made, err = contents.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return made
}

// ours and theirs are snapshots of the cluster and of another one, by driver, that the last spec
// looks for.
var ours, theirs = map[string]taken{}, map[string]taken{}

func snapshots(k kind) {
	It("have snapshots that are tagged, too, and found by a teardown", func(ctx SpecContext) {
		cluster := csi.Cluster(infraID, 1)
		taken, err := k.take(cluster, k.driver.Kind+"-taken")
		Expect(err).NotTo(HaveOccurred())
		imported, err := k.take(cluster, k.driver.Kind+"-imported")
		Expect(err).NotTo(HaveOccurred())
		Expect(taken.untag()).To(Succeed())
		Expect(imported.untag()).To(Succeed())
		Expect(imported.set(map[string]string{"team": "a b"})).To(Succeed())
		imported.tags["team"] = "a b"

		taken.content(ctx, k.driver, false)
		imported.content(ctx, k.driver, true)
		taken.has(ctx, owned(k.driver, taken.tags))
		imported.has(ctx, owned(k.driver, imported.tags))
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
		ours[k.driver.Kind] = taken
	})

	It("have snapshots that keep the tag of another cluster, and are told of", func(ctx SpecContext) {
		foreign, err := k.take(csi.Cluster("stranger-c5yl0", 1), k.driver.Kind+"-foreign")
		Expect(err).NotTo(HaveOccurred())
		content := foreign.content(ctx, k.driver, true)
		says(ctx, k.driver, operatorv1.ConditionFalse, "ForeignTag", "VolumeSnapshotContent "+content.Name, `"stranger-c5yl0"`)
		Eventually(func(g Gomega) {
			events, err := env.Kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(content.UID)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(events.Items).To(HaveLen(1))
		}).WithContext(ctx).Should(Succeed())
		foreign.has(ctx, foreign.tags)
		Expect(env.Snapshots.SnapshotV1().VolumeSnapshotContents().Delete(ctx, content.Name, metav1.DeleteOptions{})).To(Succeed())
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
		theirs[k.driver.Kind] = foreign
	})
}

// shown are volumes that show a snapshot and have no subvolume of their own, which only CephFS has.
func shown(k kind) {
	It("that show a snapshot are marked on it, each for itself, as long as they are to outlive the cluster", func(ctx SpecContext) {
		cluster := csi.Cluster(infraID, 1)
		source, err := cluster.Subvolume(volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: group, Namespace: group}, "shown")
		Expect(err).NotTo(HaveOccurred())
		snapshot, err := cluster.SubvolumeSnapshot(source, "shown")
		Expect(err).NotTo(HaveOccurred())
		want := map[string]string{}
		for _, name := range []string{"shown-first", "shown-second"} {
			v, err := cluster.Shallow(snapshot, name)
			Expect(err).NotTo(HaveOccurred())
			k.volume(ctx, name, v.UUID(), corev1.PersistentVolumeReclaimRetain)
			want[name] = ceph.TagRetainShown(v.UUID())
		}
		at := ceph.SubvolumePlace{Filesystem: cephdaemons.Filesystem, Group: group, Name: source.Name, Snapshot: snapshot.Name}
		marks := func(g Gomega) []string {
			found, err := conn.SubvolumeMetadata(ctx, cephdaemons.Filesystem, []ceph.SubvolumePlace{at})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found[0].Err).NotTo(HaveOccurred())
			return slices.Sorted(maps.Keys(found[0].Values))
		}
		own := append(slices.Collect(maps.Keys(snapshot.Tags())), ceph.TagOwner)
		Eventually(marks).WithContext(ctx).WithPolling(polling).Should(ConsistOf(append(own, want["shown-first"], want["shown-second"])))
		setPolicy(ctx, "shown-first", corev1.PersistentVolumeReclaimDelete)
		Eventually(marks).WithContext(ctx).WithPolling(polling).Should(ConsistOf(append(own, want["shown-second"])))
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
	})
}
