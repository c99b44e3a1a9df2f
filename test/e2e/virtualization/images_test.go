package virtualization

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	claims      = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	images      = fixture.MachineImages
	dataVolumes = schema.GroupVersionResource{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "datavolumes"}
	dataSources = fixture.DataSources
	importCrons = schema.GroupVersionResource{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "dataimportcrons"}
	volumeShots = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshots"}
	policies    = fixture.Policies
	policyNames = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
)

const imagesNamespace = "default"

// disk makes an object with these fields until the spec ends, whoever deletes it before.
func disk(ctx context.Context, of schema.GroupVersionResource, kind, name string, labels map[string]string, spec map[string]any) {
	GinkgoHelper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion(of.GroupVersion().String())
	object.SetKind(kind)
	object.SetName(name)
	object.SetLabels(labels)
	all := env.Dynamic.Resource(of).Namespace(imagesNamespace)
	DeferCleanup(func(ctx SpecContext) {
		Eventually(func() bool {
			return apierrors.IsNotFound(all.Delete(ctx, name, metav1.DeleteOptions{}))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(BeTrue(), kind+" "+name+" can be deleted")
	})
	_, err := all.Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func claim(ctx context.Context, name, class string, labels map[string]string) {
	GinkgoHelper()
	disk(ctx, claims, "PersistentVolumeClaim", name, labels, map[string]any{
		"storageClassName": class, "accessModes": []any{"ReadWriteMany"}, "volumeMode": "Block",
		"resources": map[string]any{"requests": map[string]any{"storage": resource.NewQuantity(1<<20, resource.BinarySI).String()}},
	})
}

// as is a client of somebody else, whom everything is allowed.
func as(user string) dynamic.Interface {
	GinkgoHelper()
	config := env.Cluster.AdminConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	out, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// tryDelete asks whether something might be deleted.
func tryDelete(ctx context.Context, client dynamic.Interface, of schema.GroupVersionResource, name string) error {
	return client.Resource(of).Namespace(imagesNamespace).Delete(ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
}

func expectKept(ctx context.Context, of schema.GroupVersionResource, name, holds string) {
	GinkgoHelper()
	Eventually(func() error { return tryDelete(ctx, env.Dynamic, of, name) }).WithContext(ctx).WithTimeout(fixture.Patience).
		Should(MatchError(ContainSubstring(name + " holds the disk image of " + holds)))
}

func expectFree(ctx context.Context, of schema.GroupVersionResource, name string) {
	GinkgoHelper()
	Eventually(func() error { return tryDelete(ctx, env.Dynamic, of, name) }).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}

// policiesLeft are the names of the operators' policies and bindings.
func policiesLeft(ctx context.Context, g Gomega) []string {
	var out []string
	for _, kind := range []schema.GroupVersionResource{policies, policyNames} {
		all, err := env.Dynamic.Resource(kind).List(ctx, metav1.ListOptions{LabelSelector: driver.ManagedByLabel})
		g.Expect(err).NotTo(HaveOccurred())
		for _, p := range all.Items {
			out = append(out, kind.Resource+"/"+p.GetName())
		}
	}
	return out
}

func expectNoPolicies(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) { g.Expect(policiesLeft(ctx, g)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

// expectTold waits for a condition of a driver; an empty status is none.
func expectTold(ctx context.Context, d driver.Driver, conditionType, status, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, conditionType)
		g.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{status, reason}), c.Message)
	}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
}

var _ = Describe("Disk images", func() {
	It("on Harvester keep their volumes, when asked to, until they are deleted", func(ctx SpecContext) {
		d := driver.RBD
		env.Install(ctx, fixture.Shapeless(images, "VirtualMachineImage", "Namespaced"))
		env.Install(ctx, fixture.Shapeless(dataVolumes, "DataVolume", "Namespaced"))
		claim(ctx, "ubuntu", d.StorageClass, nil)
		claim(ctx, "files", driver.CephFS.StorageClass, nil)
		disk(ctx, dataVolumes, "DataVolume", "ubuntu", nil, map[string]any{"storage": map[string]any{"storageClassName": d.StorageClass}})
		disk(ctx, images, "VirtualMachineImage", "ubuntu", nil, map[string]any{"displayName": "Ubuntu"})
		disk(ctx, images, "VirtualMachineImage", "files", nil, map[string]any{"displayName": "Files"})
		claim(ctx, "data", d.StorageClass, nil)
		expectFree(ctx, claims, "ubuntu")
		Expect(policiesLeft(ctx, Default)).To(BeEmpty(), "nobody has asked for it")
		expectBound(ctx, d.ImagesRole(), false)

		tune(ctx, d, `{"imageProtection":"Enabled"}`)
		expectKept(ctx, claims, "ubuntu", "VirtualMachineImage ubuntu")
		expectKept(ctx, dataVolumes, "ubuntu", "VirtualMachineImage ubuntu")
		expectTold(ctx, d, condition.ImagesProtected, "True", condition.AsExpected)
		expectBound(ctx, d.ImagesRole(), true)
		Expect(tryDelete(ctx, env.Dynamic, claims, "data")).To(Succeed(), "no image")
		Expect(tryDelete(ctx, env.Dynamic, claims, "files")).To(Succeed(), "of a driver that was not asked")
		for _, tidy := range []string{"kube-system:generic-garbage-collector", "kube-system:namespace-controller", "harvester-system:cdi-sa", "harvester-system:harvester"} {
			Expect(tryDelete(ctx, as("system:serviceaccount:"+tidy), claims, "ubuntu")).To(Succeed(), tidy)
		}
		Expect(tryDelete(ctx, as("system:serviceaccount:mine:tidy"), claims, "ubuntu")).To(MatchError(ContainSubstring("disk image")))

		By("a restart of the operator, and a policy that somebody deletes")
		env.Operator(d).Kill()
		name := "ceph-rbd-csi-images-" + images.Resource
		Expect(env.Dynamic.Resource(policies).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Expect(env.Operator(d).Restart()).To(Succeed())
		Eventually(func() error {
			_, err := env.Dynamic.Resource(policies).Get(ctx, name, metav1.GetOptions{})
			return err
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		expectKept(ctx, claims, "ubuntu", "VirtualMachineImage ubuntu")

		By("the image being deleted")
		Expect(env.Dynamic.Resource(images).Namespace(imagesNamespace).Delete(ctx, "ubuntu", metav1.DeleteOptions{})).To(Succeed())
		expectFree(ctx, claims, "ubuntu")
		expectFree(ctx, dataVolumes, "ubuntu")

		By("switching it off")
		tune(ctx, d, `{"imageProtection":"Disabled"}`)
		expectNoPolicies(ctx)
		expectTold(ctx, d, condition.ImagesProtected, "", "")
		expectBound(ctx, d.ImagesRole(), false)
		env.Settle(ctx)
	})

	It("of CDI keep their volumes and snapshots, when asked to", func(ctx SpecContext) {
		d := driver.RBD
		env.Install(ctx, fixture.Shapeless(dataSources, "DataSource", "Namespaced"))
		env.Install(ctx, fixture.Shapeless(importCrons, "DataImportCron", "Namespaced"))
		tune(ctx, d, `{"imageProtection":"Enabled"}`)
		claim(ctx, "fedora", d.StorageClass, nil)
		imported := map[string]string{"cdi.kubevirt.io/dataImportCron": "weekly"}
		claim(ctx, "fedora-1", d.StorageClass, imported)
		disk(ctx, volumeShots, "VolumeSnapshot", "fedora-2", imported, map[string]any{
			"volumeSnapshotClassName": d.SnapshotClass, "source": map[string]any{"persistentVolumeClaimName": "fedora"},
		})
		disk(ctx, volumeShots, "VolumeSnapshot", "centos", nil, map[string]any{
			"volumeSnapshotClassName": d.SnapshotClass, "source": map[string]any{"persistentVolumeClaimName": "fedora"},
		})
		disk(ctx, dataSources, "DataSource", "of-claim", nil, map[string]any{"source": map[string]any{"pvc": map[string]any{"name": "fedora", "namespace": imagesNamespace}}})
		disk(ctx, dataSources, "DataSource", "of-snapshot", nil, map[string]any{"source": map[string]any{"snapshot": map[string]any{"name": "centos"}}})
		disk(ctx, dataSources, "DataSource", "of-another-namespace", nil, map[string]any{"source": map[string]any{"pvc": map[string]any{"name": "centos", "namespace": "other"}}})
		disk(ctx, importCrons, "DataImportCron", "weekly", nil, map[string]any{"schedule": "30 2 * * 1"})
		claim(ctx, "centos", d.StorageClass, nil)

		expectKept(ctx, claims, "fedora", "DataSource of-claim")
		expectKept(ctx, volumeShots, "centos", "DataSource of-snapshot")
		expectKept(ctx, claims, "fedora-1", "DataImportCron weekly")
		expectKept(ctx, volumeShots, "fedora-2", "DataImportCron weekly")
		Expect(tryDelete(ctx, env.Dynamic, claims, "centos")).To(Succeed(), "what a DataSource names lies elsewhere")
		Expect(tryDelete(ctx, as("system:serviceaccount:openshift-cnv:cdi-sa"), claims, "fedora-1")).To(Succeed(), "CDI drops old imports")

		By("CDI going")
		env.Uninstall(ctx, importCrons.GroupResource().String())
		env.Uninstall(ctx, dataSources.GroupResource().String())
		expectNoPolicies(ctx)
		expectTold(ctx, d, condition.ImagesProtected, "False", condition.NotSupported)
		expectBound(ctx, d.ImagesRole(), true)
		expectFree(ctx, claims, "fedora")
	})
})
