package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// users is the namespace of pods that use volumes.
const users = metav1.NamespaceDefault

// settings of the drivers, and the parameters of the classes that show them.
var settings = map[string]struct{ member, parameter, value string }{
	driver.RBD.Name:    {`{"mapOptions":"krbd:rxbounce","imageFeatures":"layering"}`, "mapOptions", "krbd:rxbounce"},
	driver.CephFS.Name: {`{"kernelMountOptions":"noatime"}`, "kernelMountOptions", "noatime"},
}

// tune is what an administrator edits.
func tune(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		s := settings[d.Name]
		patch := `{"spec":{"logLevel":"Debug","driverConfig":{"driverType":"Ceph","ceph":` + s.member + `}}}`
		_, err := env.Drivers.Patch(ctx, d.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(class.Parameters).To(HaveKeyWithValue(s.parameter, s.value))
		}).WithContext(ctx).Should(Succeed())
		_, err = env.Kube.StorageV1().StorageClasses().Patch(ctx, d.StorageClass, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"example.com/mine":"yes","storageclass.kubernetes.io/is-default-class":"false"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// used are the volumes, as Ceph's tools name them.
var used struct{ image, subvolume string }

// use makes a volume of each driver, and a pod that uses it.
func use(ctx context.Context) {
	GinkgoHelper()
	Expect(csi.Hurry()).To(Succeed())
	infrastructure, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	cluster := csi.Cluster(infrastructure.Status.InfrastructureName, 1)
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, driver.RBD.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	pool := class.Parameters["pool"]
	image, err := cluster.Image(volumes.Class{Place: volumes.Place{Pool: pool}, Features: volumes.Layering}, "block")
	Expect(err).NotTo(HaveOccurred())
	used.image = pool + "/" + image.Name
	mount(ctx, driver.RBD, image.PV(), image.Handle())
	subvolume, err := cluster.Subvolume(volumes.FileClass{Filesystem: cephdaemons.Filesystem}, "files")
	Expect(err).NotTo(HaveOccurred())
	used.subvolume = subvolume.Name
	handle, err := subvolume.Handle()
	Expect(err).NotTo(HaveOccurred())
	mount(ctx, driver.CephFS, subvolume.PV(), handle)
}

// mount makes PersistentVolume, claim and pod.
func mount(ctx context.Context, d driver.Driver, name, handle string) {
	GinkgoHelper()
	capacity := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	meta := metav1.ObjectMeta{Name: d.Kind, Namespace: users}
	_, err := env.Kube.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: capacity, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain, StorageClassName: d.StorageClass,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: d.Name, VolumeHandle: handle, VolumeAttributes: map[string]string{"clusterID": env.Cluster.Ceph().FSID()},
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Kube.CoreV1().PersistentVolumeClaims(users).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: name, StorageClassName: ptr.To(d.StorageClass), Resources: corev1.VolumeResourceRequirements{Requests: capacity},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Kube.CoreV1().Pods(users).Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "user", Image: "registry.example.com/user", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: meta.Name},
		}}},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		pod, err := env.Kube.CoreV1().Pods(users).Get(ctx, meta.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
	}).WithContext(ctx).Should(Succeed())
}

// remembered is the world before the first upgrade.
var remembered map[string]string

func remember(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		remembered = world(ctx, g)
		for name, s := range settings {
			g.Expect(remembered).To(HaveKeyWithValue("parameter "+s.parameter+" of class "+name, s.value))
		}
		g.Expect(env.ProtectedPools(ctx, g)).To(HaveLen(3), "the image's and the filesystem's pools")
	}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
}

func expectNothingLost(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := world(ctx, g)
		for what, was := range remembered {
			if !madeAnew[what] {
				g.Expect(now).To(HaveKeyWithValue(what, was))
			}
		}
	}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
}

// world has all that people or volumes rely on. Later versions may add to it.
func world(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, part := range []func(context.Context, Gomega) map[string]string{classes, drivers, secrets, states, pods, inCeph} {
		maps.Copy(out, part(ctx, g))
	}
	return out
}

func text(g Gomega, value any) string {
	GinkgoHelper()
	out, err := json.Marshal(value)
	g.Expect(err).NotTo(HaveOccurred())
	return string(out)
}

// madeAnew are the UIDs of classes to which this version adds a parameter: those of a class cannot be changed.
var madeAnew = map[string]bool{}

func classes(ctx context.Context, g Gomega) map[string]string {
	out := map[string]string{}
	for _, d := range driver.All {
		class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		out["class "+d.Name] = text(g, []any{class.Annotations, class.MountOptions})
		uid := "UID of class " + d.Name
		out[uid] = string(class.UID)
		for name, value := range class.Parameters {
			what := "parameter " + name + " of class " + d.Name
			out[what] = value
			if _, had := remembered[what]; remembered != nil && !had {
				madeAnew[uid] = true
			}
		}
		snapshots, err := env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Get(ctx, d.SnapshotClass, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		out["snapshot class "+d.Name] = text(g, []any{snapshots.UID, snapshots.Parameters, snapshots.Annotations})
	}
	return out
}

func drivers(ctx context.Context, g Gomega) map[string]string {
	out := map[string]string{}
	for _, d := range driver.All {
		cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		out["log level "+d.Name] = string(cr.Spec.LogLevel) + string(cr.UID)
		object, err := env.Kube.StorageV1().CSIDrivers().Get(ctx, d.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		out["CSIDriver "+d.Name] = string(object.UID)
	}
	return out
}

func secrets(ctx context.Context, g Gomega) map[string]string {
	out := map[string]string{}
	for _, d := range driver.All {
		for _, name := range []string{d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret()} {
			secret, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for key, value := range secret.Data {
				var entries []any
				if json.Unmarshal(value, &entries) != nil {
					out["Secret "+name+" "+key] = string(value)
					continue
				}
				spread(g, out, "Secret "+name+" "+key, entries)
			}
		}
	}
	return out
}

// spread adds each member of a text in JSON, as a later version may add members.
func spread(g Gomega, out map[string]string, where string, value any) {
	GinkgoHelper()
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			spread(g, out, where+"."+name, member)
		}
	case []any:
		for i, element := range value {
			spread(g, out, fmt.Sprintf("%s.%d", where, i), element)
		}
	default:
		out[where] = text(g, value)
	}
}

// states is what is remembered across restarts: each field of each key.
func states(ctx context.Context, g Gomega) map[string]string {
	out := map[string]string{}
	for _, d := range driver.All {
		state, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(state.Data).To(HaveKeyWithValue("version", "1"))
		for key, content := range state.Data {
			var fields map[string]any
			if json.Unmarshal([]byte(content), &fields) != nil {
				continue // The version.
			}
			for field, value := range fields {
				out[fmt.Sprintf("state %s %s.%s", d.Name, key, field)] = text(g, value)
			}
		}
	}
	return out
}

// pods are the users'.
func pods(ctx context.Context, g Gomega) map[string]string {
	out := map[string]string{}
	list, err := env.Kube.CoreV1().Pods(users).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, p := range list.Items {
		out["pod "+p.Name] = text(g, []any{p.UID, p.Status.Phase, p.Status.StartTime, p.Spec.NodeName, p.Status.ContainerStatuses})
	}
	return out
}

// inCeph are users, tags, and what keeps pools.
func inCeph(ctx context.Context, g Gomega) map[string]string {
	ceph := func(arguments ...string) []byte {
		content, err := env.Cluster.Ceph().Command(ctx, append(arguments, "--format", "json")...)
		g.Expect(err).NotTo(HaveOccurred())
		return content
	}
	out := map[string]string{"protected pools": fmt.Sprint(env.ProtectedPools(ctx, Default))}
	var auth struct {
		Users []struct{ Entity, Key string } `json:"auth_dump"`
	}
	g.Expect(json.Unmarshal(ceph("auth", "ls"), &auth)).To(Succeed())
	for _, u := range auth.Users {
		if strings.HasPrefix(u.Entity, "client.csi-") {
			out["user "+u.Entity] = u.Key
		}
	}
	var pools []struct {
		Name         string                       `json:"pool_name"`
		Applications map[string]map[string]string `json:"application_metadata"`
	}
	g.Expect(json.Unmarshal(ceph("osd", "pool", "ls", "detail"), &pools)).To(Succeed())
	for _, p := range pools {
		for application, values := range p.Applications {
			for key, value := range values {
				out[fmt.Sprintf("claim of pool %s %s %s", p.Name, application, key)] = value
			}
		}
	}
	image, err := env.Cluster.Ceph().RBD(ctx, "image-meta", "list", used.image, "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	for of, content := range map[string][]byte{
		"image":     image,
		"subvolume": ceph("fs", "subvolume", "metadata", "ls", cephdaemons.Filesystem, used.subvolume, "--group_name", driver.DefaultSubvolumeGroup),
	} {
		var tags map[string]string
		g.Expect(json.Unmarshal(content, &tags)).To(Succeed())
		for key, value := range tags {
			out[fmt.Sprintf("tag %s of the %s", key, of)] = value
		}
	}
	return out
}
