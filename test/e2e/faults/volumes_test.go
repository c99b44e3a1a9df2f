package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// needs are those of these volumes.
var needs faults.Needs

// createVolume tells Kubernetes of one.
func createVolume(ctx context.Context, d driver.Driver, name, handle string) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	secret := func(what string) *corev1.SecretReference {
		prefix := "csi.storage.k8s.io/" + what + "-secret-name"
		return &corev1.SecretReference{Name: class.Parameters[prefix], Namespace: class.Parameters[prefix+"space"]}
	}
	_, err = env.Kube.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: d.StorageClass,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: d.Name, VolumeHandle: handle, VolumeAttributes: map[string]string{"clusterID": env.Cluster.Ceph().FSID()},
				NodeStageSecretRef: secret("node-stage"), ControllerExpandSecretRef: secret("controller-expand"),
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// learnNeeds reads what the volumes need while all is well.
func learnNeeds(ctx context.Context) {
	GinkgoHelper()
	needs = faults.Needs{Objects: map[string]*unstructured.Unstructured{}, Users: map[string]map[string]string{}}
	names := named(ctx)
	for _, object := range env.History.Latest() {
		switch kind := object.GetKind(); {
		case kind == "Deployment" || kind == "DaemonSet":
			if slices.Contains(names[kind], object.GetName()) {
				needs.Objects[pathOf(object)] = &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
			}
		case slices.Contains(names[kind], object.GetName()) || grants(object):
			needs.Objects[pathOf(object)] = object
		}
	}
	for _, p := range pools(ctx) {
		if strings.Contains(p.Flags, "nodelete") && p.Name != neighbour {
			needs.Pools = append(needs.Pools, p.Name)
		}
	}
	for _, u := range users(ctx) {
		if strings.HasPrefix(u.Entity, "client.csi-") && !strings.HasSuffix(u.Entity, neighbour) {
			needs.Users[u.Entity] = u.Caps
		}
	}
	Expect(needs.Pools).To(HaveLen(4), "the image's and the filesystem's pools")
	Expect(needs.Users).To(HaveLen(4))
	AddReportEntry(fmt.Sprintf("volumes need %d objects", len(needs.Objects)))
}

// named are the names of objects that volumes or the driver's pods refer to, by kind.
func named(ctx context.Context) map[string][]string {
	GinkgoHelper()
	out := map[string][]string{}
	add := func(kind string, names ...string) { out[kind] = append(out[kind], names...) }
	for _, d := range driver.All {
		add("CSIDriver", d.Name)
		add("Deployment", d.ControllerName())
		add("DaemonSet", d.NodeName())
		add("ServiceAccount", d.ControllerName()+"-sa", d.NodeName()+"-sa")
		add("Secret", d.ConfigSecret())
		pv, err := env.Kube.CoreV1().PersistentVolumes().Get(ctx, volumeOf[d.Name].pv, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		add("Secret", pv.Spec.CSI.NodeStageSecretRef.Name, pv.Spec.CSI.ControllerExpandSecretRef.Name)
	}
	return out
}

// grants says that a binding is for the driver's pods.
func grants(object *unstructured.Unstructured) bool {
	subjects, _, err := unstructured.NestedSlice(object.Object, "subjects")
	Expect(err).NotTo(HaveOccurred())
	return slices.ContainsFunc(subjects, func(s any) bool {
		subject := s.(map[string]any)
		return slices.ContainsFunc(driver.All, func(d driver.Driver) bool {
			return subject["namespace"] == driver.Namespace && (subject["name"] == d.ControllerName()+"-sa" || subject["name"] == d.NodeName()+"-sa")
		})
	})
}

// pathOf is where the API server has an object of these kinds.
func pathOf(object *unstructured.Unstructured) string {
	path := "/apis/" + object.GetAPIVersion()
	if object.GetAPIVersion() == "v1" {
		path = "/api/v1"
	}
	if ns := object.GetNamespace(); ns != "" {
		path += "/namespaces/" + ns
	}
	return path + "/" + strings.ToLower(object.GetKind()) + "s/" + object.GetName()
}

// harm is what the operators have taken from the volumes, or written of the neighbour's, since then, if only for a moment. The writes are those since the last arm.
func harm(since time.Time) []string {
	GinkgoHelper()
	var out []string
	for _, d := range driver.All {
		toCeph, err := calls[d.Name].Writes()
		Expect(err).NotTo(HaveOccurred())
		toAPI := proxies[d.Name].Writes()
		out = slices.Concat(out, needs.Deleted(toAPI), needs.Taken(toCeph), trespasses(append(toAPI, toCeph...)...))
	}
	for _, v := range env.History.Of(func(v fixture.Version) bool { return v.Type != watch.Deleted && v.At.After(since) }) {
		out = append(out, needs.Emptied(pathOf(v.Object), v.Object)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
