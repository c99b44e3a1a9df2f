package virtualization

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

//go:embed testdata/virtualmachines.yaml
var virtualMachinesCRD []byte

const (
	machineClass       = "ceph-rbd-virtualization"
	defaultForMachines = "storageclass.kubevirt.io/is-default-virt-class"
)

// class returns a StorageClass, or nil.
func class(ctx context.Context, g Gomega, name string) *storagev1.StorageClass {
	GinkgoHelper()
	out, err := env.Kube.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	g.Expect(err).NotTo(HaveOccurred())
	return out
}

func deleteClass(ctx context.Context, name string) {
	GinkgoHelper()
	err := env.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
}

// startKubeVirt installs the CRD until the spec ends, and then takes the class that came of it.
func startKubeVirt(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(func(ctx SpecContext) {
		// One watch tells of all CRDs, in their order: with CDI's gone, the operator knows that
		// KubeVirt's is, too.
		expectCurrent(ctx, "")
		Eventually(func(g Gomega) {
			held := class(ctx, g, machineClass)
			if held != nil {
				deleteClass(ctx, machineClass)
			}
			g.Expect(held).To(BeNil())
		}).WithContext(ctx).MustPassRepeatedly(10).Should(Succeed())
	})
	startCDI(ctx, &cdi{subresource: true})
	expectCurrent(ctx, "True")
	env.Install(ctx, fixture.Read(virtualMachinesCRD))
}

// expectForgotten waits until the class has been made anew for the settings that are usual, and the operator does
// not remember what the one before it had: the next one would get it.
func expectForgotten(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		anew := class(ctx, g, machineClass)
		g.Expect(anew).NotTo(BeNil())
		g.Expect(anew.Parameters["mapOptions"]).To(Equal("krbd:rxbounce"))
		remembered, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, driver.RBD.StateConfigMap(), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		var of state.Class
		g.Expect(json.Unmarshal([]byte(remembered.Data["virtualizationClass"]), &of)).To(Succeed())
		g.Expect(of.Empty()).To(BeTrue(), "%+v", of)
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

// tune replaces spec.driverConfig.ceph until the spec ends; the driver's own StorageClass is then as it was.
func tune(ctx context.Context, d driver.Driver, member string) {
	GinkgoHelper()
	before := class(ctx, Default, d.StorageClass).Parameters
	DeferCleanup(func(ctx SpecContext) {
		patchDriver(ctx, d, `{"driverConfig":null}`)
		Eventually(func(g Gomega) {
			again := class(ctx, g, d.StorageClass)
			g.Expect(again).NotTo(BeNil())
			g.Expect(again.Parameters).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		env.Settle(ctx)
	})
	patchDriver(ctx, d, `{"driverConfig":{"driverType":"Ceph","ceph":`+member+`}}`)
}

// patchDriver changes fields of the spec of a ClusterCSIDriver. A typed client would lose those of
// Ceph.
func patchDriver(ctx context.Context, d driver.Driver, spec string) {
	GinkgoHelper()
	_, err := env.DriverResources().Patch(ctx, d.Name, types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// annotate changes annotations of a StorageClass as `oc annotate` does.
func annotate(ctx context.Context, name, patch string) {
	GinkgoHelper()
	_, err := env.Kube.StorageV1().StorageClasses().Patch(ctx, name, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":`+patch+`}}`), metav1.PatchOptions{FieldManager: "kubectl-annotate"})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("A StorageClass for virtual machines", func() {
	It("comes with KubeVirt, and follows the default one", func(ctx SpecContext) {
		startKubeVirt(ctx)
		DeferCleanup(expectForgotten)
		base := class(ctx, Default, driver.RBD.StorageClass)
		rbd, _ := known()
		expectSpec(ctx, machineClass, rbd)
		want := maps.Clone(base.Parameters)
		want["mounter"], want["mapOptions"] = "rbd", "krbd:rxbounce"
		expect := func(isDefault string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				got := class(ctx, g, machineClass)
				g.Expect(got).NotTo(BeNil())
				g.Expect(got.Parameters).To(Equal(want))
				g.Expect(got.Provisioner).To(Equal(base.Provisioner))
				g.Expect(got.VolumeBindingMode).To(Equal(base.VolumeBindingMode))
				g.Expect(got.AllowVolumeExpansion).To(HaveValue(BeTrue()))
				g.Expect(got.Annotations[defaultForMachines]).To(Equal(isDefault))
				g.Expect(got.Annotations).NotTo(HaveKey("storageclass.kubernetes.io/is-default-class"))
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}
		expect("true")

		annotate(ctx, machineClass, `{"`+defaultForMachines+`":"false"}`)
		tune(ctx, driver.RBD, `{"mapOptions":"krbd:ms_mode=prefer-crc"}`)
		want["mapOptions"] = "krbd:ms_mode=prefer-crc,rxbounce"
		expect("false")
	})

	It("is not the default one where another is, and goes with storageClassState", func(ctx SpecContext) {
		ownClass(ctx, driver.RBD, "mine", func(c *storagev1.StorageClass) {
			c.Annotations = map[string]string{defaultForMachines: "true"}
		})
		startKubeVirt(ctx)
		Eventually(func(g Gomega) {
			got := class(ctx, g, machineClass)
			g.Expect(got).NotTo(BeNil())
			g.Expect(got.Annotations).NotTo(HaveKey(defaultForMachines))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())

		state := func(ctx context.Context, state operatorv1.StorageClassStateName) {
			env.Tune(ctx, driver.RBD, func(s *operatorv1.ClusterCSIDriverSpec) { s.StorageClassState = state })
		}
		DeferCleanup(func(ctx SpecContext) { state(ctx, operatorv1.ManagedStorageClass); env.Settle(ctx) })
		state(ctx, operatorv1.RemovedStorageClass)
		Eventually(func(g Gomega) { g.Expect(class(ctx, g, machineClass)).To(BeNil()) }).
			WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	})

	It("is left alone where it is somebody else's", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, driver.RBD, condition.VirtualMachinesUsable).Type).To(BeEmpty())
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		})
		ownClass(ctx, driver.RBD, machineClass, func(c *storagev1.StorageClass) { c.Parameters["pool"] = "mine" })
		env.Install(ctx, fixture.Read(virtualMachinesCRD))
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, driver.RBD, condition.VirtualMachinesUsable)
			g.Expect(c.Reason).To(Equal(condition.ForeignClass))
			g.Expect(c.Message).To(ContainSubstring("oc delete storageclass " + machineClass))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Expect(class(ctx, Default, machineClass).Parameters).To(HaveKeyWithValue("pool", "mine"))
	})
})
