package virtualization

import (
	"context"
	_ "embed"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

//go:embed testdata/cdis.yaml
var cdisCRD []byte

var cdis = schema.GroupVersionResource{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "cdis"}

// expectMistake waits until a driver's operator tells of a mistake, in its condition and in an
// event about the object to mend. Of what both operators tell there is one event.
func expectMistake(ctx context.Context, d driver.Driver, reason, about string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
		g.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{"False", reason}), c.Message)
		g.Expect(c.Message).To(ContainSubstring(about))
		events, err := env.Kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		g.Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, e := range events.Items {
			names = append(names, e.InvolvedObject.Name)
		}
		g.Expect(names).To(ContainElement(about))
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

func expectNoMistake(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
			g.Expect(string(c.Status)).To(Equal("True"), c.Message)
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
}

// expectMatrix waits for what the status ConfigMap tells of virtual machines on a StorageClass.
func expectMatrix(ctx context.Context, d driver.Driver, class string, want map[string]string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		held, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		var status struct {
			VirtualMachines map[string]map[string]string
		}
		g.Expect(yaml.Unmarshal([]byte(held.Data["status.yaml"]), &status)).To(Succeed())
		g.Expect(status.VirtualMachines[class]).To(Equal(want))
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

var _ = Describe("Mistakes about disks of virtual machines", func() {
	It("are told in a condition and in events, one after the other", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					g.Expect(env.Condition(ctx, g, d, condition.VirtualMachinesUsable).Type).To(BeEmpty())
				}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			}
		})
		env.Install(ctx, fixture.Read(cdisCRD))
		startCDI(ctx, &cdi{subresource: true})
		expectNoMistake(ctx)
		rbd := driver.RBD.StorageClass
		expectMatrix(ctx, driver.RBD, rbd, map[string]string{
			"image": "yes", "rootDisk": "yes", "dataDisk": "yes", "export": "yes", "template": "yes", "liveMigration": "yes", "snapshot": "yes",
			"backup": "no: not supported for volumes of Ceph by the platform itself",
		})

		token := env.Scraper(ctx)
		expectMetrics := func(features map[string]int) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				_, text := env.Metrics(ctx, g, driver.RBD, token)
				for feature, value := range features {
					g.Expect(text).To(ContainSubstring("ceph_csi_driver_operator_virtual_machines_ready{feature=%q,storageclass=%q} %d\n", feature, rbd, value))
				}
			}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(time.Second).Should(Succeed())
		}
		expectMetrics(map[string]int{"rootDisk": 1, "liveMigration": 1, "backup": 0})

		By("CDI's override of all clone strategies, which both drivers tell")
		override := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cloneStrategyOverride": "copy"}}}
		override.SetAPIVersion(cdis.GroupVersion().String())
		override.SetKind("CDI")
		override.SetName("cdi")
		_, err := env.Dynamic.Resource(cdis).Create(ctx, override, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, d := range driver.All {
			expectMistake(ctx, d, condition.CloneOverride, "cdi")
		}
		expectMetrics(map[string]int{"rootDisk": 0, "liveMigration": 1, "backup": 0})
		Expect(env.Dynamic.Resource(cdis).Delete(ctx, "cdi", metav1.DeleteOptions{})).To(Succeed())
		expectNoMistake(ctx)

		By("a StorageProfile's snapshot class of the other driver, and what an image cannot be")
		edit(ctx, rbd, fields{"snapshotClass": driver.CephFS.SnapshotClass})
		expectMistake(ctx, driver.RBD, condition.SnapshotClassDriver, rbd)
		edit(ctx, rbd, fields{"snapshotClass": nil, "claimPropertySets": []any{set("ReadWriteMany", "Filesystem")}})
		expectMistake(ctx, driver.RBD, condition.UnusableClaimSet, rbd)
		edit(ctx, rbd, fields{"claimPropertySets": nil})
		expectNoMistake(ctx)

		By("what the CRD of StorageProfiles takes, and CDI does not know")
		edit(ctx, rbd, fields{"cloneStrategy": "csiclone"})
		expectMistake(ctx, driver.RBD, condition.UnknownCloneStrategy, rbd)
		edit(ctx, rbd, fields{"cloneStrategy": nil, "dataImportCronSourceFormat": "foo"})
		expectMistake(ctx, driver.RBD, condition.UnknownSourceFormat, rbd)
		edit(ctx, rbd, fields{"dataImportCronSourceFormat": nil, "snapshotClass": "gone"})
		expectMistake(ctx, driver.RBD, condition.SnapshotClassNotFound, rbd)
		edit(ctx, rbd, fields{"snapshotClass": nil})
		expectNoMistake(ctx)

		By("two default classes for virtual machines")
		for _, name := range []string{"first-default", "second-default"} {
			ownClass(ctx, driver.CephFS, name, func(c *storagev1.StorageClass) {
				c.Annotations = map[string]string{defaultForMachines: "true"}
			})
		}
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, driver.CephFS, condition.VirtualMachinesUsable)
			g.Expect(c.Reason).To(Equal(condition.MultipleDefaultVirtClasses), c.Message)
			g.Expect(c.Message).To(ContainSubstring("first-default, second-default"))
			g.Expect(string(env.Condition(ctx, g, driver.RBD, condition.VirtualMachinesUsable).Status)).To(Equal("True"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		env.Settle(ctx)
	})

	It("are told of what Harvester's settings and webhook take for Longhorn's", func(ctx SpecContext) {
		d := driver.RBD
		startHarvester(ctx)
		expectValue(ctx, driverConfig, "{"+longhorn+",", entryOf(driver.RBD), entryOf(driver.CephFS))
		expectNoMistake(ctx)
		for reason, entry := range map[string]string{
			condition.NullEntry:             `"` + d.Name + `":null`,
			condition.BackupClassSet:        `"` + d.Name + `":{"volumeSnapshotClassName":"` + d.SnapshotClass + `","backupVolumeSnapshotClassName":"b"}`,
			condition.ObsoleteFields:        `"` + d.Name + `":{"volumeSnapshotClassName":"` + d.SnapshotClass + `","supportClone":true}`,
			condition.SnapshotClassDriver:   `"` + d.Name + `":{"volumeSnapshotClassName":"` + driver.CephFS.SnapshotClass + `"}`,
			condition.SnapshotClassNotFound: `"` + d.Name + `":{"volumeSnapshotClassName":"gone"}`,
			condition.UnknownDriver:         `"rook-ceph.` + d.Name + `":{"volumeSnapshotClassName":"s"}`,
		} {
			mine := "{" + longhorn + "," + entry + "}"
			setValue(ctx, driverConfig, mine)
			expectMistake(ctx, d, reason, driverConfig)
			Expect(value(ctx, Default, driverConfig)).To(Equal(mine), "an administrator's to mend")
		}
		setValue(ctx, driverConfig, "{"+longhorn+"}")
		for _, d := range driver.All {
			forget(ctx, driverConfig, d)
		}
		expectNoMistake(ctx)
		ownClass(ctx, d, "encrypted", func(c *storagev1.StorageClass) { c.Parameters["encrypted"] = "true" })
		expectMistake(ctx, d, condition.EncryptedClass, "encrypted")
	})
})
