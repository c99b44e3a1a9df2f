package tags

import (
	"context"
	"fmt"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// owned has the tag that stays when ceph-csi takes the cluster's name away, where it does.
func owned(d driver.Driver, want map[string]string) map[string]string {
	if d.DetachUntags && want[ceph.TagCluster] == infraID {
		want = maps.Clone(want)
		want[ceph.TagOwner] = infraID
	}
	return want
}

// has waits until a volume has exactly these tags.
func (k kind) has(ctx context.Context, uuid string, want map[string]string) {
	GinkgoHelper()
	want = owned(k.driver, want)
	Eventually(func(g Gomega) {
		got, err := k.read(ctx, uuid)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}).WithContext(ctx).WithPolling(polling).Should(Succeed())
}

// own are the tags of a volume without a claim.
func own(volume string, more ...string) map[string]string {
	out := map[string]string{ceph.TagCluster: infraID, ceph.TagPV: volume}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// says waits for the condition.
func says(ctx context.Context, d driver.Driver, status operatorv1.ConditionStatus, reason string, texts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, "VolumesSafe")
		g.Expect(c.Status).To(Equal(status), c.Message)
		g.Expect(c.Reason).To(Equal(reason), c.Message)
		for _, text := range texts {
			g.Expect(c.Message).To(ContainSubstring(text))
		}
	}).WithContext(ctx).Should(Succeed())
}

func untagged(k kind) {
	It("without tags are tagged, and what they have besides stays", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-untagged", k.uuid(1, 1)
		k.makeAll(ctx, uuid)
		Expect(k.set(ctx, uuid, "team", "a b")).To(Succeed())
		k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimDelete)
		k.has(ctx, uuid, own(name, "team", "a b"))
		claim(ctx, name+"-claim", name)
		k.has(ctx, uuid, own(name, "team", "a b", ceph.TagPVC, name+"-claim", ceph.TagPVCNamespace, claims))
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
	})
}

func conflicting(k kind) {
	It("of another cluster keep their tag, and are told of", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-foreign", k.uuid(2, 1)
		k.makeAll(ctx, uuid)
		Expect(k.set(ctx, uuid, ceph.TagCluster, "another-b4xk9")).To(Succeed())
		before := k.version(ctx, uuid)
		pv := k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimRetain)
		says(ctx, k.driver, operatorv1.ConditionFalse, "ForeignTag", name, `"another-b4xk9"`, infraID)
		Eventually(func(g Gomega) {
			events, err := env.Kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(pv.UID)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(events.Items).To(HaveLen(1))
			g.Expect(events.Items[0].Message).To(ContainSubstring(`"another-b4xk9"`))
		}).WithContext(ctx).Should(Succeed())
		Eventually(status).WithContext(ctx).WithArguments(k.driver).WithTimeout(2*fixture.Patience).
			Should(ContainSubstring("conflicting: 1"), "it is written a minute after the first of many changes")
		k.has(ctx, uuid, map[string]string{ceph.TagCluster: "another-b4xk9"})
		Expect(k.version(ctx, uuid)).To(Equal(before))
		remove(ctx, name)
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
	})
}

func status(g Gomega, ctx context.Context, d driver.Driver) string {
	configMap, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return configMap.Data["status.yaml"]
}

func retained(k kind) {
	It("that are to outlive the cluster are marked, as long as they are", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-retained", k.uuid(3, 1)
		k.makeAll(ctx, uuid)
		k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimRetain)
		k.has(ctx, uuid, own(name, ceph.TagRetain, "true", ceph.TagRetainOf, uuid))
		setPolicy(ctx, name, corev1.PersistentVolumeReclaimDelete)
		k.has(ctx, uuid, own(name))
		setPolicy(ctx, name, corev1.PersistentVolumeReclaimRetain)
		k.has(ctx, uuid, own(name, ceph.TagRetain, "true", ceph.TagRetainOf, uuid))
	})
}

func setPolicy(ctx context.Context, volume string, policy corev1.PersistentVolumeReclaimPolicy) {
	GinkgoHelper()
	patch := fmt.Sprintf(`{"spec":{"persistentVolumeReclaimPolicy":%q}}`, policy)
	_, err := env.Kube.CoreV1().PersistentVolumes().Patch(ctx, volume, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

const (
	// more is what the operator looks at a second later.
	more = 5
	// polling is how often a volume is read while waiting for its tags.
	polling = 200 * time.Millisecond
)

func restarted(k kind) {
	It("are all tagged by an operator that was killed in between, and then never written again", func(ctx SpecContext) {
		var uuids []string
		for i := range k.driver.TagsPerSecond + more {
			uuids = append(uuids, k.uuid(4, i))
		}
		k.makeAll(ctx, uuids...)
		name := func(i int) string { return fmt.Sprintf("%s-many-%d", k.driver.Kind, i) }
		for i, uuid := range uuids {
			k.volume(ctx, name(i), uuid, corev1.PersistentVolumeReclaimDelete)
		}
		Eventually(func(g Gomega) {
			g.Expect(k.tagged(ctx, g, uuids)).NotTo(BeZero())
		}).WithContext(ctx).WithPolling(polling).Should(Succeed())
		env.Operator(k.driver).Kill()
		AddReportEntry(fmt.Sprintf("killed when %d of %d were tagged", k.tagged(ctx, Default, uuids), len(uuids)))
		Expect(env.Operator(k.driver).Restart()).To(Succeed())
		versions := map[string]uint64{}
		for i, uuid := range uuids {
			k.has(ctx, uuid, own(name(i)))
			versions[uuid] = k.version(ctx, uuid)
		}

		// The volume that is new is looked at last, or together with the last ones.
		env.Operator(k.driver).Kill()
		Expect(env.Operator(k.driver).Restart()).To(Succeed())
		k.makeAll(ctx, k.uuid(5, 1))
		k.volume(ctx, name(-1), k.uuid(5, 1), corev1.PersistentVolumeReclaimDelete)
		k.has(ctx, k.uuid(5, 1), own(name(-1)))
		Consistently(func(g Gomega) {
			for uuid, before := range versions {
				g.Expect(k.version(ctx, uuid)).To(Equal(before), uuid)
			}
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).WithPolling(fixture.Undisturbed / 3).Should(Succeed())
		for i := range uuids {
			remove(ctx, name(i))
		}
	})
}

// tagged counts the volumes with the cluster's tag.
func (k kind) tagged(ctx context.Context, g Gomega, uuids []string) (count int) {
	for _, uuid := range uuids {
		got, err := k.read(ctx, uuid)
		g.Expect(err).NotTo(HaveOccurred())
		if got[ceph.TagCluster] == infraID {
			count++
		}
	}
	return count
}
