package glue

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// removed takes both drivers off by managementState, and has them back, while all is on that is opt-in.
func removed() {
	Context("with virtual machines", Ordered, removedWithMachines)
}

func removedWithMachines() {
	var others *fixture.Bystanders
	BeforeAll(func(ctx SpecContext) {
		others = virtualized(ctx)
		DeferCleanup(func(ctx SpecContext) {
			tuneBoth(ctx, `null`)
			Eventually(func(g Gomega) { g.Expect(machinesHave(ctx, g)).To(ConsistOf(onPlatforms())) }).
				WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		})
	})

	var operands map[string]string
	var places, users []string
	const volume = "still-needed"

	It("removes the classes of a driver that is Removed, looks after the rest, and says how much needs it", func(ctx SpecContext) {
		for _, kind := range []string{"storageclass/" + driver.RBD.StorageClass, "volumesnapshotclass/" + driver.RBD.SnapshotClass} {
			env.Kubectl(ctx, "annotate", kind, "users.example.com/note=mine")
			env.Kubectl(ctx, "label", kind, "users.example.com/team=ours")
		}
		env.Settle(ctx)
		operands = operandsOf(ctx, Default)
		Expect(machinesHave(ctx, Default)).To(ConsistOf(optedIn()))
		places, users = cephHas(ctx)
		Expect(users).To(ContainElement(ContainSubstring("client.csi-rbd-node.")))
		hold(ctx, volume)

		begin := time.Now()
		for _, d := range driver.All {
			manage(ctx, d, operatorv1.Removed)
		}
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, driver.RBD, condition.DriverRemoved)
			g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse))
			g.Expect(c.Message).To(ContainSubstring("1 PersistentVolume and 1 VolumeAttachment of " + driver.RBD.Name))
			now := operandsOf(ctx, g)
			g.Expect(now).NotTo(HaveKey("StorageClass " + driver.RBD.StorageClass))
			g.Expect(now).NotTo(HaveKey("VolumeSnapshotClass " + driver.RBD.SnapshotClass))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())

		service := driver.RBD.ControllerName() + "-metrics"
		Expect(env.Kube.CoreV1().Services(driver.Namespace).Delete(ctx, service, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() error {
			_, err := env.Kube.CoreV1().Services(driver.Namespace).Get(ctx, service, metav1.GetOptions{})
			return err
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, driver.CephFS, condition.DriverRemoved).Status).To(Equal(operatorv1.ConditionTrue))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		Expect(missing(operandsOf(ctx, Default), operands, driver.RBD)).To(HaveEach(ContainSubstring("Class ")), "what volumes need is there for longer than the other driver took to go")
		Expect(machinesHave(ctx, Default)).To(ConsistOf(slices.DeleteFunc(optedIn(), func(name string) bool { return !strings.Contains(name, "ceph-rbd") })), "nodes restart when MachineConfigs go")
		env.ExpectStatus(ctx, Default, "True", "False", "False")
		Expect(deletions(begin, driver.RBD)).To(HaveEach(ContainSubstring("classes")))
	})

	It("removes everything but what people chose when nothing needs it any more, and leaves Ceph as it was", func(ctx SpecContext) {
		Expect(env.Kube.StorageV1().VolumeAttachments().Delete(ctx, volume, metav1.DeleteOptions{})).To(Succeed())
		Expect(env.Kube.CoreV1().PersistentVolumes().Delete(ctx, volume, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			for _, d := range driver.All {
				c := env.Condition(ctx, g, d, condition.DriverRemoved)
				g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue), c.Message)
				g.Expect(env.Condition(ctx, g, d, condition.Disabled).Reason).To(Equal(condition.Removed))
			}
			g.Expect(operandsOf(ctx, g)).To(BeEmpty())
			env.ExpectStatus(ctx, g, "True", "False", "False")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		Expect(machinesHave(ctx, Default)).To(BeEmpty(), "what was opt-in, and the rights to it")
		others.ExpectUntouched(ctx)
		Expect(env.LeftOvers(ctx, Default)).To(HaveEach(Or(
			ContainSubstring("-csi-driver-operator"), ContainSubstring("-csi-driver-state"), ContainSubstring("ceph-cluster-storage"),
			HavePrefix("ClusterCSIDriver "), HavePrefix("Storage "), HavePrefix("ClusterOperator "), ContainSubstring("/openshift-csi-"))))
		nowPlaces, nowUsers := cephHas(ctx)
		Expect(nowPlaces).To(Equal(places))
		Expect(nowUsers).To(Equal(users))
	})

	It("rests then, also after a restart of the operator", func(ctx SpecContext) {
		expectRest(ctx)
		Expect(env.Kube.CoreV1().Pods(driver.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name=" + driver.RBD.OperatorName()})).To(Succeed())
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		expectRest(ctx)
		Expect(operandsOf(ctx, Default)).To(BeEmpty())
		Expect(env.Condition(ctx, Default, driver.RBD, condition.DriverRemoved).Status).To(Equal(operatorv1.ConditionTrue))
	})

	It("has the same drivers again with Managed, and classes as their users left them", func(ctx SpecContext) {
		for _, d := range driver.All {
			manage(ctx, d, operatorv1.Managed)
		}
		Eventually(func(g Gomega) {
			env.ExpectStatus(ctx, g, "True", "False", "False")
			for _, d := range driver.All {
				g.Expect(fixture.Complaints(env.Conditions(ctx, g, d))).To(BeEmpty())
				g.Expect(env.Condition(ctx, g, d, condition.DriverRemoved).Type).To(BeEmpty())
			}
			now := operandsOf(ctx, g)
			for name, content := range operands {
				g.Expect(now[name]).To(Equal(content), name)
			}
			g.Expect(machinesHave(ctx, g)).To(ConsistOf(optedIn()))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		env.Settle(ctx)
		_, nowUsers := cephHas(ctx)
		Expect(nowUsers).To(Equal(users))
	})
}

func manage(ctx context.Context, d driver.Driver, state operatorv1.ManagementState) {
	GinkgoHelper()
	patchSpec(ctx, d, `{"managementState": "`+string(state)+`"}`)
}

// hold has a volume of RBD, and an attachment of it.
func hold(ctx context.Context, name string) {
	GinkgoHelper()
	_, err := env.Kube.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: driver.RBD.Name, VolumeHandle: "0001-0024-" + strings.Repeat("0", 36) + "-0000000000000001-" + strings.Repeat("0", 36),
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Kube.StorageV1().VolumeAttachments().Create(ctx, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: driver.RBD.Name, NodeName: "worker-0", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To(name)},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// operandsOf are the operands of both drivers that are there, by name, without what the API server and
// controllers of Kubernetes give each new object.
func operandsOf(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	groups, err := restmapper.GetAPIGroupResources(env.Kube.Discovery())
	g.Expect(err).NotTo(HaveOccurred())
	resources := map[string]metav1.APIResource{}
	for _, group := range groups {
		for _, r := range group.VersionedResources[group.Group.PreferredVersion.Version] {
			if !strings.Contains(r.Name, "/") {
				r.Group, r.Version = group.Group.Name, group.Group.PreferredVersion.Version
				resources[r.Kind] = r
			}
		}
	}
	out := map[string]string{}
	for _, d := range driver.All {
		for _, o := range objectsOf(g, d) {
			r := resources[o.Kind]
			of := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}
			live, err := env.Dynamic.Resource(of).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
			if beNotFound(err) {
				continue
			}
			g.Expect(err).NotTo(HaveOccurred(), o.String())
			out[o.String()] = lasting(g, live)
		}
	}
	return out
}

func objectsOf(g Gomega, d driver.Driver) []removal.Object {
	GinkgoHelper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "x"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := removal.ObjectsOf(d, set)
	g.Expect(err).NotTo(HaveOccurred())
	return slices.Concat(objects.Classes, objects.Workloads, objects.Rest)
}

// lasting is what stays the same when an object is made again.
func lasting(g Gomega, live *unstructured.Unstructured) string {
	GinkgoHelper()
	out := live.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "status")
	switch out.GetKind() {
	case "Deployment", "DaemonSet":
		// Hashes of a certificate that is made again, and what its spec is hashed to.
		unstructured.RemoveNestedField(out.Object, "metadata", "annotations")
		unstructured.RemoveNestedField(out.Object, "spec", "template", "metadata", "annotations")
	case "Service":
		for _, field := range []string{"clusterIP", "clusterIPs"} {
			unstructured.RemoveNestedField(out.Object, "spec", field)
		}
		unstructured.RemoveNestedField(out.Object, "metadata", "annotations")
	case "ServiceAccount":
		unstructured.RemoveNestedField(out.Object, "secrets")
		unstructured.RemoveNestedField(out.Object, "imagePullSecrets")
	case "ConfigMap":
		unstructured.RemoveNestedField(out.Object, "data") // Times, and the bundle of another controller.
	}
	text, err := out.MarshalJSON()
	g.Expect(err).NotTo(HaveOccurred())
	if out.GetKind() == "Secret" {
		return fmt.Sprintf("%x", sha256.Sum256(text)) // Nobody prints a key.
	}
	return string(text)
}

// missing names the operands of a driver that were there before.
func missing(now, before map[string]string, d driver.Driver) []string {
	var out []string
	for name := range before {
		if _, there := now[name]; !there && strings.Contains(name, "ceph-"+d.Kind) {
			out = append(out, name)
		}
	}
	return out
}

// cephHas lists pools with all that is set on them, and users with their caps.
func cephHas(ctx context.Context) (places, users []string) {
	GinkgoHelper()
	pools, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls")
	Expect(err).NotTo(HaveOccurred())
	for _, pool := range strings.Fields(string(pools)) {
		marks, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "application", "get", pool)
		Expect(err).NotTo(HaveOccurred())
		kept, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "get", pool, "nodelete")
		Expect(err).NotTo(HaveOccurred())
		places = append(places, pool+" "+string(marks)+string(kept))
	}
	all, err := env.Cluster.Ceph().Command(ctx, "auth", "ls")
	Expect(err).NotTo(HaveOccurred())
	for _, line := range strings.Split(string(all), "\n") {
		if !strings.Contains(line, "key:") && !strings.Contains(line, "\"key\"") {
			users = append(users, line)
		}
	}
	return places, users
}

// deletions are the requests for them of a driver's operator.
func deletions(since time.Time, d driver.Driver) []string {
	var out []string
	for _, r := range fixture.Writes(env.Requests(d, since)) {
		if r.Verb == "delete" {
			out = append(out, r.ObjectRef.Resource)
		}
	}
	return out
}

// expectRest waits until the operators write nothing.
func expectRest(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		since := time.Now()
		g.Consistently(func() []string {
			var out []string
			for _, d := range driver.All {
				out = append(out, fixture.Lines(fixture.Writes(env.Requests(d, since)))...)
			}
			return out
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(BeEmpty())
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}
