package kubernetes

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	storageClasses  = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	policyBindings  = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
	virtualMachines = schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"}
)

// The settings as their administrator left them, in a style of his own.
const (
	driverConfig = "{ \"driver.longhorn.io\" : {\"b\": 1e3 ,\n\"volumeSnapshotClassName\":\"x\"}}"
	expansion    = `{"driver.longhorn.io":true}`
)

// harvester brings what Harvester brings until the spec ends, and objects of its users, and asks
// the operators for all that they write for virtual machines.
func harvester(ctx context.Context) *fixture.Bystanders {
	GinkgoHelper()
	env.Install(ctx, fixture.Shapeless(virtualMachines, "VirtualMachine", "Namespaced"))
	env.Install(ctx, fixture.Shapeless(fixture.MachineImages, "VirtualMachineImage", "Namespaced"))
	env.Install(ctx, fixture.Shapeless(fixture.CloudInits, "CloudInit", "Cluster"))
	env.Install(ctx, fixture.Read(fixture.StorageProfilesCRD))
	env.Install(ctx, fixture.Read(fixture.SettingsCRD))
	others := env.Bystanders()
	for name, value := range map[string]string{"csi-driver-config": driverConfig, "csi-online-expand-validation": "", "backup-target": "a secret"} {
		others.Create(ctx, fixture.Settings, "", fmt.Sprintf(
			`{apiVersion: harvesterhci.io/v1beta1, kind: Setting, metadata: {name: %s, annotations: {theirs: stays}}, default: %q, value: %q}`, name, expansion, value))
	}
	others.Create(ctx, storageClasses, "", fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: users, annotations: {theirs: stays}},
		provisioner: %s, parameters: {clusterID: %s, pool: users}}`, driver.RBD.Name, env.Cluster.Ceph().FSID()))
	others.Create(ctx, fixture.StorageProfiles, "", `{apiVersion: cdi.kubevirt.io/v1beta1, kind: StorageProfile, metadata: {name: users}, spec: {cloneStrategy: copy},
		status: {provisioner: `+driver.RBD.Name+`, cloneStrategy: copy}}`)
	others.Create(ctx, fixture.CloudInits, "", `{apiVersion: node.harvesterhci.io/v1beta1, kind: CloudInit, metadata: {name: theirs}, spec: {contents: theirs}}`)
	others.Create(ctx, policyBindings, "", `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: theirs},
		spec: {policyName: theirs, validationActions: [Deny]}}`)
	others.Create(ctx, fixture.MachineImages, "default", `{apiVersion: harvesterhci.io/v1beta1, kind: VirtualMachineImage, metadata: {name: ubuntu}, spec: {targetStorageClassName: users}}`)
	for _, d := range driver.All {
		_, err := env.DriverResources().Patch(ctx, d.Name, types.MergePatchType,
			[]byte(`{"spec": {"driverConfig": {"driverType": "Ceph", "ceph": {"imageProtection": "Enabled", "kernelModules": "AtBoot"}}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	return others
}

// expectWritten waits until the operators have written everywhere.
func expectWritten(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		get := func(of schema.GroupVersionResource, name string) *unstructured.Unstructured {
			GinkgoHelper()
			object, err := env.Dynamic.Resource(of).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			return object
		}
		for _, d := range driver.All {
			for _, setting := range []string{"csi-driver-config", "csi-online-expand-validation"} {
				g.Expect(get(fixture.Settings, setting).Object["value"]).To(ContainSubstring(d.Name))
			}
			get(fixture.CloudInits, "ceph-"+d.Kind+"-csi-modules")
			get(fixture.Policies, "ceph-"+d.Kind+"-csi-images-virtualmachineimages")
		}
		get(storageClasses, "ceph-rbd-virtualization")
		g.Expect(get(storageClasses, "users").GetAnnotations()).To(And(
			HaveKey("cdi.harvesterhci.io/storageProfileVolumeSnapshotClass"), HaveKey("cdi.harvesterhci.io/storageProfileVolumeModeAccessModes")))
		g.Expect(get(fixture.StorageProfiles, "users").Object["spec"]).To(HaveKeyWithValue("dataImportCronSourceFormat", "snapshot"))
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}
