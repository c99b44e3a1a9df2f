package virtualization

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Annotations that Harvester reads.
const (
	cloneAnnotation    = "cdi.harvesterhci.io/storageProfileCloneStrategy"
	snapshotAnnotation = "cdi.harvesterhci.io/storageProfileVolumeSnapshotClass"
	modesAnnotation    = "cdi.harvesterhci.io/storageProfileVolumeModeAccessModes"
)

// startFiller runs a stand-in for Harvester's controller of StorageClasses until the spec
// ends: what annotations say stands in the StorageProfile, and what they do not say is emptied
// there, whoever wrote it.
func startFiller() {
	running, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	DeferCleanup(func() { cancel(); done.Wait() })
	done.Go(func() {
		_ = wait.PollUntilContextCancel(running, standInPolling, true, func(ctx context.Context) (bool, error) {
			fill(ctx)
			return false, nil
		})
	})
}

// fill ignores errors: the next time is soon.
func fill(ctx context.Context) {
	classes, err := env.Kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, class := range classes.Items {
		profile, err := env.Dynamic.Resource(profiles).Get(ctx, class.Name, metav1.GetOptions{})
		if err != nil {
			continue
		}
		spec, _, _ := unstructured.NestedMap(profile.Object, "spec")
		want := map[string]any{}
		if format, there := spec["dataImportCronSourceFormat"]; there {
			want["dataImportCronSourceFormat"] = format
		}
		for annotation, field := range map[string]string{cloneAnnotation: "cloneStrategy", snapshotAnnotation: "snapshotClass"} {
			if value, there := class.Annotations[annotation]; there {
				want[field] = value
			}
		}
		var modes map[string][]any
		if json.Unmarshal([]byte(class.Annotations[modesAnnotation]), &modes) == nil {
			var sets []any
			for mode, access := range modes {
				sets = append(sets, map[string]any{"accessModes": access, "volumeMode": mode})
			}
			want["claimPropertySets"] = sets
		}
		if !equality.Semantic.DeepEqual(spec, want) {
			profile.Object["spec"] = want
			_, _ = env.Dynamic.Resource(profiles).Update(ctx, profile, metav1.UpdateOptions{FieldManager: "harvester"})
		}
	}
}

// quietTime has each controller of ours, and Harvester's, come round several times.
const quietTime = time.Minute

var _ = Describe("StorageClasses on Harvester", func() {
	It("carry what Harvester puts into StorageProfiles, and nobody fights", func(ctx SpecContext) {
		names := []string{driver.RBD.StorageClass, driver.CephFS.StorageClass}
		DeferCleanup(func(ctx SpecContext) {
			for _, name := range names {
				annotate(ctx, name, `{"`+cloneAnnotation+`":null,"`+snapshotAnnotation+`":null,"`+modesAnnotation+`":null}`)
			}
		})
		startHarvester(ctx)
		startCDI(ctx, &cdi{subresource: true, ignorant: true})
		startFiller()
		rbd, cephFS := unknown()
		for _, hints := range []fields{rbd, cephFS} {
			hints["claimPropertySets"] = hints["claimPropertySets"].([]any)[:1]
		}
		expectSpec(ctx, driver.RBD.StorageClass, rbd)
		expectSpec(ctx, driver.CephFS.StorageClass, cephFS)
		Expect(class(ctx, Default, driver.RBD.StorageClass).Annotations).To(And(
			HaveKeyWithValue(cloneAnnotation, "csi-clone"), HaveKeyWithValue(snapshotAnnotation, driver.RBD.SnapshotClass),
			HaveKeyWithValue(modesAnnotation, `{"Block":["ReadWriteMany"]}`)))
		expectClasses(ctx, driver.RBD, "True", condition.AsExpected)

		quiet := time.Now()
		Consistently(func() []string {
			return append(writesTo(profiles.Resource, quiet), writesTo("storageclasses", quiet)...)
		}).WithContext(ctx).WithTimeout(quietTime).WithPolling(time.Second).Should(BeEmpty(), "nobody fights")

		By("a user choosing otherwise")
		annotate(ctx, driver.RBD.StorageClass, `{"`+cloneAnnotation+`":"copy"}`)
		mine := maps.Clone(rbd)
		mine["cloneStrategy"] = "copy"
		expectSpec(ctx, driver.RBD.StorageClass, mine)
		expectClasses(ctx, driver.RBD, "False", condition.UserOverrides)

		By("the class being made anew, which loses the owners of annotations")
		annotate(ctx, driver.RBD.StorageClass, `{"`+cloneAnnotation+`":null}`)
		expectClasses(ctx, driver.RBD, "True", condition.AsExpected)
		tune(ctx, driver.RBD, `{"imageFeatures":"layering"}`)
		Eventually(func(g Gomega) {
			held := class(ctx, g, driver.RBD.StorageClass)
			g.Expect(held).NotTo(BeNil())
			g.Expect(held.Parameters).To(HaveKeyWithValue("imageFeatures", "layering"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		annotated := class(ctx, Default, driver.RBD.StorageClass)
		Expect(annotated.Annotations).To(HaveKeyWithValue(snapshotAnnotation, driver.RBD.SnapshotClass))
		better := copySnapshotClass(ctx, driver.RBD, "better")
		Eventually(func(g Gomega) {
			g.Expect(class(ctx, g, driver.RBD.StorageClass).Annotations).To(HaveKeyWithValue(snapshotAnnotation, better))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	})
})

func expectClasses(ctx context.Context, d driver.Driver, status, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
		g.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{status, reason}), c.Message)
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

// copySnapshotClass makes another snapshot class of the same Ceph cluster, which the
// administrator prefers, until the spec ends.
func copySnapshotClass(ctx context.Context, d driver.Driver, name string) string {
	GinkgoHelper()
	const preferred = "snapshot.storage.kubernetes.io/is-default-class"
	all := env.Dynamic.Resource(snapshotClasses)
	prefer := func(ctx context.Context, value string) {
		GinkgoHelper()
		own, err := all.Get(ctx, d.SnapshotClass, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		own.SetAnnotations(map[string]string{preferred: value})
		_, err = all.Update(ctx, own, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	own, err := all.Get(ctx, d.SnapshotClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	prefer(ctx, "false")
	DeferCleanup(func(ctx SpecContext) { prefer(ctx, "true") })
	better := &unstructured.Unstructured{Object: map[string]any{
		"driver": own.Object["driver"], "deletionPolicy": own.Object["deletionPolicy"], "parameters": own.Object["parameters"],
	}}
	better.SetGroupVersionKind(own.GroupVersionKind())
	better.SetName(name)
	better.SetAnnotations(map[string]string{preferred: "true"})
	DeferCleanup(func(ctx SpecContext) { Expect(all.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed()) })
	_, err = all.Create(ctx, better, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return name
}
