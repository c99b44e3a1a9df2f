package tuning

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("Mounts in user space", func() {
	const current = "NodePodsCurrent"
	d := driver.RBD
	strategy := func(ctx context.Context, wanted appsv1.DaemonSetUpdateStrategyType) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			g.Expect(env.Node(ctx, g, d).Spec.UpdateStrategy.Type).To(Equal(wanted))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
	level := func(ctx context.Context, level operatorv1.LogLevel) {
		env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.LogLevel = level })
	}
	// seeing waits until all node pods see the node's processes, or none does.
	seeing := func(ctx context.Context, wanted bool) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			pods := env.Pods(ctx, g, d.NodeName())
			g.Expect(pods).NotTo(BeEmpty())
			for _, pod := range pods {
				g.Expect(pod.Spec.HostPID).To(Equal(wanted), pod.Name)
			}
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
	pods := func(ctx context.Context) map[types.UID]corev1.Pod {
		GinkgoHelper()
		out := map[types.UID]corev1.Pod{}
		for _, pod := range env.Pods(ctx, Default, d.NodeName()) {
			out[pod.UID] = pod
		}
		return out
	}

	It("outlive a change of the node pods, until somebody deletes those", func(ctx SpecContext) {
		classes := env.Kube.StorageV1().StorageClasses()
		DeferCleanup(level, operatorv1.Normal)
		DeferCleanup(deleteStorageClass, "nbd")
		_, err := classes.Create(ctx, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "nbd"}, Provisioner: d.Name, Parameters: map[string]string{"mounter": "rbd-nbd"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		seeing(ctx, true)
		healer := healers(d)
		env.TakesBack(ctx, healer)
		env.Settle(ctx)
		DeferCleanup(deleteVolume, "nbd")
		createVolume(ctx, d, "nbd")
		strategy(ctx, appsv1.OnDeleteDaemonSetStrategyType)

		before, since := pods(ctx), time.Now()
		level(ctx, operatorv1.Debug)
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, current)
			g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse))
			g.Expect(c.Reason).To(Equal("WaitingForDeletion"))
			g.Expect(c.Message).To(ContainSubstring("oc delete pod -n " + namespace + " -l app=" + d.NodeName()))
			g.Expect(env.Condition(ctx, g, d, progressing(d)).Status).To(Equal(operatorv1.ConditionFalse))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Consistently(func(g Gomega) {
			g.Expect(pods(ctx)).To(HaveLen(len(before)))
			g.Expect(env.Condition(ctx, g, d, progressing(d)).Status).To(Equal(operatorv1.ConditionFalse))
		}, fixture.Undisturbed).Should(Succeed())
		for uid := range pods(ctx) {
			Expect(before).To(HaveKey(uid), "a node pod was replaced")
		}
		Expect(progressed(d, since)).To(BeEmpty(), "nothing is rolled out")

		// What the message says, without the drain.
		for _, pod := range before {
			Expect(env.Kube.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})).To(Succeed())
		}
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, d, current)).To(BeZero())
			for _, pod := range env.Pods(ctx, g, d.NodeName()) {
				g.Expect(before).NotTo(HaveKey(pod.UID))
				g.Expect(fixture.Container(g, corev1.PodTemplateSpec{Spec: pod.Spec}, "csi-driver").Args).To(ContainElement("--v=4"))
			}
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())

		// The specs that follow find all as it was.
		level(ctx, operatorv1.Normal)
		Eventually(func(g Gomega) {
			g.Expect(fixture.Container(g, env.Node(ctx, g, d).Spec.Template, "csi-driver").Args).To(ContainElement("--v=2"))
		}).WithContext(ctx).Should(Succeed())
		deleteVolume(ctx, "nbd")
		deleteStorageClass(ctx, "nbd")
		strategy(ctx, appsv1.RollingUpdateDaemonSetStrategyType)
		seeing(ctx, false)
		Eventually(func(g Gomega) {
			for _, o := range healer {
				_, err := o.Client.Get(ctx, o.Name, metav1.GetOptions{})
				g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), o.Kind)
			}
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		env.Settle(ctx)
	})
})

// healers are the Role with which node pods read their Secret, and its RoleBinding.
func healers(d driver.Driver) []fixture.Applied {
	GinkgoHelper()
	set := render(d)
	var manifests [][]byte
	for _, name := range set.UserSpace() {
		manifests = append(manifests, set.Manifest(name))
	}
	return env.Applied(manifests...)
}

func progressing(d driver.Driver) string {
	return d.ConditionPrefix + "DriverNodeServiceControllerProgressing"
}

// unseen is said until Kubernetes has seen a change of the DaemonSet, a moment later.
const unseen = "Waiting for DaemonSet to act on changes"

// progressed are the messages with which the DaemonSet was said to be rolled out since a moment.
func progressed(d driver.Driver, since time.Time) []string {
	GinkgoHelper()
	var out []string
	for _, v := range env.History.Of(fixture.Kind("ClusterCSIDriver")) {
		if v.At.Before(since) || v.Object.GetName() != d.Name {
			continue
		}
		conditions, _, err := unstructured.NestedSlice(v.Object.Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		for _, c := range conditions {
			c := c.(map[string]any)
			if c["type"] == progressing(d) && c["status"] == "True" && c["message"] != unseen {
				out = append(out, c["message"].(string))
			}
		}
	}
	return out
}

// createVolume makes one that rbd-nbd may mount, though nobody does.
func createVolume(ctx context.Context, d driver.Driver, name string) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity:    corev1.ResourceList{corev1.ResourceStorage: apiresource.MustParse("1Gi")},
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
			Driver: d.Name, VolumeHandle: name, VolumeAttributes: map[string]string{
				"clusterID": class.Parameters["clusterID"], "pool": class.Parameters["pool"], "staticVolume": "true", "mounter": "rbd-nbd",
			},
		}},
	}}
	_, err = env.Kube.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func deleteVolume(ctx context.Context, name string) {
	GinkgoHelper()
	err := env.Kube.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
}
