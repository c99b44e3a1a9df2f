package glue

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

// virtualized brings what OpenShift Virtualization brings until the spec ends, and objects of its
// users, and returns when the operators have written all that they write there.
func virtualized(ctx context.Context) *fixture.Bystanders {
	GinkgoHelper()
	env.Install(ctx, fixture.Shapeless(fixture.DataSources, "DataSource", "Namespaced"))
	env.Install(ctx, fixture.Shapeless(fixture.MachineConfigs, "MachineConfig", "Cluster"))
	env.Install(ctx, fixture.Read(fixture.StorageProfilesCRD))
	others := env.Bystanders()
	classes := schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	// Names that nobody takes for ours.
	users := func(i int) string { return fmt.Sprintf("users-%d", i) }
	for i, d := range driver.All {
		name := users(i)
		others.Create(ctx, classes, "", fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s, annotations: {theirs: stays}},
			provisioner: %s, parameters: {clusterID: %s, pool: users, fsName: cephfs}}`, name, d.Name, env.Cluster.Ceph().FSID()))
		others.Create(ctx, fixture.StorageProfiles, "", `{apiVersion: cdi.kubevirt.io/v1beta1, kind: StorageProfile, metadata: {name: `+name+`}, spec: {cloneStrategy: copy},
			status: {provisioner: `+d.Name+`, cloneStrategy: copy}}`)
	}
	others.Create(ctx, fixture.MachineConfigs, "", `{apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, metadata: {name: 99-worker-theirs}, spec: {kernelType: realtime}}`)
	tuneBoth(ctx, `{"driverType": "Ceph", "ceph": {"imageProtection": "Enabled", "kernelModules": "AtBoot"}}`)
	Eventually(func(g Gomega) {
		get := func(of schema.GroupVersionResource, name string) *unstructured.Unstructured {
			GinkgoHelper()
			object, err := env.Dynamic.Resource(of).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			return object
		}
		for i, d := range driver.All {
			for _, role := range []string{"master", "worker"} {
				get(fixture.MachineConfigs, "99-"+role+"-ceph-"+d.Kind+"-csi-modules")
			}
			get(fixture.Policies, "ceph-"+d.Kind+"-csi-images-datasources")
			g.Expect(get(fixture.StorageProfiles, users(i)).Object["spec"]).To(And(
				HaveKeyWithValue("snapshotClass", d.SnapshotClass), HaveKey("claimPropertySets"), HaveKeyWithValue("cloneStrategy", "copy")))
		}
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	return others
}

// tuneBoth gives both drivers the same spec.driverConfig.
func tuneBoth(ctx context.Context, config string) {
	GinkgoHelper()
	for _, d := range driver.All {
		patchSpec(ctx, d, `{"driverConfig": `+config+`}`)
	}
}

// patchSpec leaves what typed clients do not know as it is.
func patchSpec(ctx context.Context, d driver.Driver, spec string) {
	GinkgoHelper()
	_, err := env.Drivers.Patch(ctx, d.Name, types.MergePatchType, []byte(`{"spec": `+spec+`}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// machinesHave names what the operators have for virtual machines: objects of their own, and bindings of their roles.
func machinesHave(ctx context.Context, g Gomega) []string {
	GinkgoHelper()
	bindings := fixture.Policies
	bindings.Resource = "validatingadmissionpolicybindings"
	var out []string
	for _, of := range []schema.GroupVersionResource{
		fixture.Policies, bindings, fixture.MachineConfigs, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	} {
		all, err := env.Dynamic.Resource(of).List(ctx, metav1.ListOptions{LabelSelector: driver.ManagedByLabel})
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range all.Items {
			out = append(out, object.GetKind()+" "+object.GetName())
		}
	}
	return out
}

// onPlatforms are the bindings that the operators have where there is CDI.
func onPlatforms() []string {
	var out []string
	for _, d := range driver.All {
		out = append(out, "ClusterRoleBinding "+d.MachinesRole())
	}
	return out
}

// optedIn is all that they have while virtualized.
func optedIn() []string {
	out := onPlatforms()
	for _, d := range driver.All {
		policy := "ceph-" + d.Kind + "-csi-images-datasources"
		out = append(out, "ClusterRoleBinding "+d.ImagesRole(), "ClusterRoleBinding "+d.ModulesRole(),
			"ValidatingAdmissionPolicy "+policy, "ValidatingAdmissionPolicyBinding "+policy)
		for _, role := range []string{"master", "worker"} {
			out = append(out, "MachineConfig 99-"+role+"-ceph-"+d.Kind+"-csi-modules")
		}
	}
	return out
}
