package virtualization

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var settings = fixture.Settings

const (
	driverConfig = "csi-driver-config"
	expansion    = "csi-online-expand-validation"
	longhorn     = `"driver.longhorn.io":{"volumeSnapshotClassName":"longhorn-snapshot","backupVolumeSnapshotClassName":"longhorn"}`
)

// startHarvester installs the CRD and the settings as a fresh Harvester has them, until the
// spec ends.
func startHarvester(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(expectNoSettings)
	env.Install(ctx, fixture.Read(fixture.SettingsCRD))
	for name, defaults := range map[string]string{driverConfig: "{" + longhorn + "}", expansion: `{"driver.longhorn.io":true}`, "backup-target": "a secret"} {
		setting := &unstructured.Unstructured{Object: map[string]any{"default": defaults, "value": ""}}
		setting.SetAPIVersion(settings.GroupVersion().String())
		setting.SetKind("Setting")
		setting.SetName(name)
		_, err := env.Dynamic.Resource(settings).Create(ctx, setting, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// value of a setting.
func value(ctx context.Context, g Gomega, name string) string {
	GinkgoHelper()
	setting, err := env.Dynamic.Resource(settings).Get(ctx, name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	out, _, _ := unstructured.NestedString(setting.Object, "value")
	return out
}

func patchSetting(ctx context.Context, name string, change map[string]any) {
	GinkgoHelper()
	patch, err := json.Marshal(change)
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Dynamic.Resource(settings).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// setValue is an administrator in Harvester's user interface.
func setValue(ctx context.Context, name, value string) {
	GinkgoHelper()
	patchSetting(ctx, name, map[string]any{"value": value})
}

// forget takes back what the operator remembers, as its condition advises.
func forget(ctx context.Context, name string, d driver.Driver) {
	GinkgoHelper()
	patchSetting(ctx, name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"storage.openshift.io/applied-" + d.Name: nil}}})
}

// expectSettings waits for VirtualMachinesUsable of both drivers, which may have more to say.
func expectSettings(ctx context.Context, status, says string) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
			g.Expect(string(c.Status)).To(Equal(status), "%s: %s", d.Name, c.Message)
			g.Expect(c.Message).To(ContainSubstring(says))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
}

// expectNoSettings waits until both drivers have nothing to say of Harvester's settings any more.
func expectNoSettings(ctx SpecContext) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, d, condition.VirtualMachinesUsable).Message).NotTo(ContainSubstring("Setting "))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
}

// entryOf is the driver's in csi-driver-config.
func entryOf(d driver.Driver) string {
	return `"` + d.Name + `":{"volumeSnapshotClassName":"` + d.SnapshotClass + `","backupVolumeSnapshotClassName":""}`
}

// expectValue waits for a setting that starts with the given text and ends with the drivers'
// entries: either may have been faster.
func expectValue(ctx context.Context, name, start string, rbd, cephFS string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(value(ctx, g, name)).To(Or(Equal(start+rbd+","+cephFS+"}"), Equal(start+cephFS+","+rbd+"}")))
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

var _ = Describe("Harvester's settings", func() {
	It("get the drivers' entries, and keep everybody else's", func(ctx SpecContext) {
		startHarvester(ctx)
		rbd, cephFS := entryOf(driver.RBD), entryOf(driver.CephFS)
		expectValue(ctx, driverConfig, "{"+longhorn+",", rbd, cephFS)
		expectValue(ctx, expansion, `{"driver.longhorn.io":true,`, `"`+driver.RBD.Name+`":true`, `"`+driver.CephFS.Name+`":true`)
		expectSettings(ctx, "True", "")

		By("an administrator starting over, with a style of his own")
		for _, d := range driver.All {
			forget(ctx, driverConfig, d)
		}
		const odd = "{ \"driver.longhorn.io\" : {\"b\": 1e3 ,\n\"volumeSnapshotClassName\":\"x\"}"
		setValue(ctx, driverConfig, odd+"}")
		for _, d := range driver.All {
			forget(ctx, driverConfig, d)
		}
		expectValue(ctx, driverConfig, odd+",", rbd, cephFS)
	})

	It("keep an administrator's override and removal", func(ctx SpecContext) {
		startHarvester(ctx)
		expectSettings(ctx, "True", "")
		expectValue(ctx, driverConfig, "{"+longhorn+",", entryOf(driver.RBD), entryOf(driver.CephFS))
		mine := "{" + longhorn + `,"` + driver.RBD.Name + `":{"volumeSnapshotClassName":"mine"}}`
		setValue(ctx, driverConfig, mine)
		expectSettings(ctx, "False", "kubectl annotate settings.harvesterhci.io csi-driver-config storage.openshift.io/applied-")
		for d, told := range map[string]string{driver.RBD.Name: `is {"volumeSnapshotClassName":"mine"}`, driver.CephFS.Name: "was removed"} {
			i := 0
			if driver.All[0].Name != d {
				i = 1
			}
			Expect(env.Condition(ctx, Default, driver.All[i], condition.VirtualMachinesUsable).Message).To(And(
				ContainSubstring(told), ContainSubstring("kubectl annotate settings.harvesterhci.io csi-driver-config storage.openshift.io/applied-"+d+"-")))
		}
		Expect(value(ctx, Default, driverConfig)).To(Equal(mine))

		By("following the advice")
		setValue(ctx, driverConfig, "{"+longhorn+"}")
		for _, d := range driver.All {
			forget(ctx, driverConfig, d)
		}
		expectValue(ctx, driverConfig, "{"+longhorn+",", entryOf(driver.RBD), entryOf(driver.CephFS))
		expectSettings(ctx, "True", "")
	})

	It("are never overwritten when they cannot be read", func(ctx SpecContext) {
		startHarvester(ctx)
		expectValue(ctx, driverConfig, "{"+longhorn+",", entryOf(driver.RBD), entryOf(driver.CephFS))
		expectSettings(ctx, "True", "")
		broken := strings.TrimSuffix(value(ctx, Default, driverConfig), "}")
		setValue(ctx, driverConfig, broken)
		expectSettings(ctx, "False", "setting "+driverConfig+" is not JSON")
		Consistently(func(g Gomega) { g.Expect(value(ctx, g, driverConfig)).To(Equal(broken)) }).
			WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
		setValue(ctx, driverConfig, broken+"}")
		expectSettings(ctx, "True", "")
	})
})
