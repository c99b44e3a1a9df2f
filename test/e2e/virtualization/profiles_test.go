package virtualization

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Claim sets as a StorageProfile has them.
func set(accessMode, volumeMode string) any {
	return map[string]any{"accessModes": []any{accessMode}, "volumeMode": volumeMode}
}

// Fields of a spec.
type fields = map[string]any

// known is what the operators add to what CDI knows of the drivers' names, unknown to names
// that it has never heard of.
func known() (rbd, cephFS fields) {
	return fields{"snapshotClass": driver.RBD.SnapshotClass, "dataImportCronSourceFormat": "snapshot"},
		fields{"snapshotClass": driver.CephFS.SnapshotClass}
}

func unknown() (rbd, cephFS fields) {
	rbd, cephFS = known()
	maps.Copy(rbd, fields{"cloneStrategy": "csi-clone", "claimPropertySets": []any{
		set("ReadWriteMany", "Block"), set("ReadWriteOnce", "Block"), set("ReadWriteOnce", "Filesystem"),
	}})
	maps.Copy(cephFS, fields{"cloneStrategy": "csi-clone", "claimPropertySets": []any{
		set("ReadWriteMany", "Filesystem"), set("ReadWriteOnce", "Filesystem"),
	}})
	return rbd, cephFS
}

// expectSpec waits for the spec of a StorageProfile, and for CDI to have seen it.
func expectSpec(ctx context.Context, name string, want fields) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(spec(ctx, g, name)).To(Equal(want), name)
		told := status(ctx, g, name)
		for key, value := range want {
			g.Expect(told).To(HaveKeyWithValue(key, value), name)
		}
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

// edit changes fields of a StorageProfile's spec as `oc edit` does, once CDI has made it; nil
// removes one.
func edit(ctx context.Context, name string, change fields) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"spec": change})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() error {
		_, err := env.Dynamic.Resource(profiles).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"})
		return err
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}

// expectChecked waits until the preflight check tells of virtual machines on each StorageClass
// what the operators do: CDI writes the status that both read.
func expectChecked(ctx context.Context, want map[string]string) {
	GinkgoHelper()
	ceph := env.Cluster.Ceph()
	Eventually(func(g Gomega) {
		out, err := env.Command(ctx, "check", "--ceph-conf="+ceph.ConfFile(), "--keyring="+ceph.KeyringFile())
		g.Expect(err).NotTo(HaveOccurred(), out)
		for class, pattern := range want {
			g.Expect(out).To(MatchRegexp(`(?m)^ +` + strings.Replace(pattern, " +", " +virtual machines on "+class+" +", 1)))
		}
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}

var _ = Describe("StorageProfiles", func() {
	It("are nobody's business without CDI, as are Harvester's settings without Harvester", func() {
		Expect(before).To(ContainElement(ContainSubstring("clustercsidrivers")))
		Expect(before).NotTo(ContainElement(Or(ContainSubstring(profiles.Group+"/"), ContainSubstring(settings.Group+"/"))))
	})

	DescribeTable("are completed when CDI comes, and forgotten when it goes", func(ctx SpecContext, standIn *cdi, want func() (rbd, cephFS fields)) {
		expectRightsOnPlatforms(ctx, false)
		startCDI(ctx, standIn)
		rbd, cephFS := want()
		expectSpec(ctx, driver.RBD.StorageClass, rbd)
		expectSpec(ctx, driver.CephFS.StorageClass, cephFS)
		expectCurrent(ctx, "True")
		expectRightsOnPlatforms(ctx, true)

		quiet := time.Now()
		Consistently(func() []string { return writesTo(profiles.Resource, quiet) }).
			WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(BeEmpty(), "idle")

		standIn.stop()
		env.Uninstall(ctx, profiles.GroupResource().String())
		expectCurrent(ctx, "")
		expectRightsOnPlatforms(ctx, false)
		env.Settle(ctx)
	},
		Entry("which knows the drivers", &cdi{subresource: true, real: true}, known),
		Entry("which does not, and has no status subresource", &cdi{ignorant: true}, unknown),
	)

	It("name the snapshot class of the same Ceph cluster, and follow it", func(ctx SpecContext) {
		const other = "11111111-2222-3333-4444-555555555555"
		startCDI(ctx, &cdi{subresource: true, real: true})
		ownClass(ctx, driver.RBD, "second-cluster", func(c *storagev1.StorageClass) { c.Parameters["clusterID"] = other })
		snapshotted := func(name, cluster string) {
			class := &unstructured.Unstructured{Object: map[string]any{
				"driver": driver.RBD.Name, "deletionPolicy": "Delete", "parameters": map[string]any{"clusterID": cluster},
			}}
			class.SetAPIVersion(snapshotClasses.GroupVersion().String())
			class.SetKind("VolumeSnapshotClass")
			class.SetName(name)
			DeferCleanup(func(ctx SpecContext) {
				Expect(env.Dynamic.Resource(snapshotClasses).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			})
			_, err := env.Dynamic.Resource(snapshotClasses).Create(ctx, class, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		expectSpec(ctx, "second-cluster", fields{})
		expectChecked(ctx, map[string]string{
			driver.RBD.StorageClass: `ok +.*dataDisk, export, image, liveMigration, rootDisk, snapshot, template; no backup \(not supported`,
			"second-cluster": `note +.*dataDisk, export, image, liveMigration, rootDisk, template; no backup .*; ` +
				`no snapshot \(VolumeSnapshotClass "` + driver.RBD.SnapshotClass + `" is of the Ceph cluster "[^"]+", the volumes of "` + other,
			driver.CephFS.StorageClass: `ok +.*liveMigration`,
		})
		snapshotted("aaa-wrong-cluster", "somewhere")
		snapshotted("zzz-right-cluster", other)
		expectSpec(ctx, "second-cluster", fields{"snapshotClass": "zzz-right-cluster", "dataImportCronSourceFormat": "snapshot"})
		rbd, _ := known()
		expectSpec(ctx, driver.RBD.StorageClass, rbd)
	})

	It("keep what a user chose, field by field", func(ctx SpecContext) {
		d := driver.RBD
		startCDI(ctx, &cdi{subresource: true, ignorant: true})
		rbd, _ := unknown()
		expectSpec(ctx, d.StorageClass, rbd)
		mine := fields{
			"cloneStrategy": "copy", "dataImportCronSourceFormat": "pvc", "snapshotClass": "mine",
			"claimPropertySets": []any{set("ReadWriteOnce", "Block")},
		}
		for key, value := range mine {
			edit(ctx, d.StorageClass, fields{key: value})
			Eventually(func(g Gomega) {
				c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
				g.Expect(string(c.Status)).To(Equal("False"), c.Message)
				g.Expect(c.Message).To(ContainSubstring(fmt.Sprintf("StorageProfile %s: spec.%s is", d.StorageClass, key)))
				g.Expect(c.Message).To(ContainSubstring("kubectl-edit"))
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			want := maps.Clone(rbd)
			want[key] = value
			expectSpec(ctx, d.StorageClass, want)
			// The advice of the condition.
			edit(ctx, d.StorageClass, fields{key: nil})
			expectSpec(ctx, d.StorageClass, rbd)
			expectCurrent(ctx, "True")
		}
	})

	It("keep the clone strategy that a user chose on the StorageClass", func(ctx SpecContext) {
		const chosen = "cdi.kubevirt.io/clone-strategy"
		d := driver.RBD
		startCDI(ctx, &cdi{subresource: true, ignorant: true})
		rbd, _ := unknown()
		expectSpec(ctx, d.StorageClass, rbd)
		DeferCleanup(func(ctx SpecContext) { annotate(ctx, d.StorageClass, `{"`+chosen+`":null}`) })
		annotate(ctx, d.StorageClass, `{"`+chosen+`":"copy"}`)
		rest := maps.Clone(rbd)
		delete(rest, "cloneStrategy")
		expectSpec(ctx, d.StorageClass, rest)
		Eventually(func(g Gomega) {
			g.Expect(status(ctx, g, d.StorageClass)).To(HaveKeyWithValue("cloneStrategy", "copy"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		expectCurrent(ctx, "True")
		annotate(ctx, d.StorageClass, `{"`+chosen+`":null}`)
		expectSpec(ctx, d.StorageClass, rbd)
	})

	It("are left alone in a cluster that is not Managed", func(ctx SpecContext) {
		d := driver.RBD
		startCDI(ctx, &cdi{subresource: true})
		rbd, _ := known()
		expectSpec(ctx, d.StorageClass, rbd)
		manage := func(ctx context.Context, state operatorv1.ManagementState) {
			env.Tune(ctx, d, func(s *operatorv1.ClusterCSIDriverSpec) { s.ManagementState = state })
		}
		DeferCleanup(func(ctx SpecContext) { manage(ctx, operatorv1.Managed); env.Settle(ctx) })
		manage(ctx, operatorv1.Unmanaged)
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, d, condition.VirtualMachinesUsable).Type).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		edit(ctx, d.StorageClass, fields{"dataImportCronSourceFormat": nil})
		Consistently(func(g Gomega) {
			g.Expect(spec(ctx, g, d.StorageClass)).NotTo(HaveKey("dataImportCronSourceFormat"))
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
		manage(ctx, operatorv1.Managed)
		expectSpec(ctx, d.StorageClass, rbd)
	})
})
