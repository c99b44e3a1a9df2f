package node

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const (
	folder = "/data"
	device = "/dev/data"
	file   = folder + "/file"
	// mebibyte is what is written where the amount does not matter.
	mebibyte = "1048576"
	// patience covers a pod whose volume is attached, formatted and mounted on a busy machine.
	patience = fixture.RolloutPatience
)

// nodes are the names of both.
var nodes = []string{"node-0", "node-1"}

// forBoth does something for both drivers at the same time: most of it is waiting.
func forBoth(act func(driver.Driver)) {
	var group sync.WaitGroup
	for _, d := range driver.All {
		group.Go(func() {
			defer GinkgoRecover()
			act(d)
		})
	}
	group.Wait()
}

// claimed is a PersistentVolumeClaim to be.
type claimed struct {
	name, class string
	// attributes is a VolumeAttributesClass, if any.
	attributes string
	mode       corev1.PersistentVolumeAccessMode
	block      bool
	// size is 1Gi unless it says otherwise.
	size   string
	source *corev1.TypedLocalObjectReference
	labels map[string]string
}

func claim(ctx context.Context, c claimed) {
	GinkgoHelper()
	if c.mode == "" {
		c.mode = corev1.ReadWriteOnce
	}
	if c.size == "" {
		c.size = "1Gi"
	}
	volumeMode := corev1.PersistentVolumeFilesystem
	if c.block {
		volumeMode = corev1.PersistentVolumeBlock
	}
	var attributes *string
	if c.attributes != "" {
		attributes = &c.attributes
	}
	_, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: c.name, Labels: c.labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeAttributesClassName: attributes,
			StorageClassName:          &c.class, AccessModes: []corev1.PersistentVolumeAccessMode{c.mode}, VolumeMode: &volumeMode, DataSource: c.source,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(c.size)}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func expectBound(ctx context.Context, name string) {
	GinkgoHelper()
	expectBoundWithin(ctx, name, fixture.Patience)
}

func expectBoundWithin(ctx context.Context, name string, limit time.Duration) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Status.Phase).To(Equal(corev1.ClaimBound), name)
	}).WithContext(ctx).WithTimeout(limit).Should(Succeed())
}

// volumeOf a claim that is bound.
func volumeOf(ctx context.Context, claim string) *corev1.PersistentVolume {
	GinkgoHelper()
	c, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, claim, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	volume, err := env.Kube.CoreV1().PersistentVolumes().Get(ctx, c.Spec.VolumeName, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return volume
}

// hold starts a pod on a node that has the claim's volume, and returns when it runs. Its name is the
// claim's and the node's.
func hold(ctx context.Context, c claimed, on string) string {
	GinkgoHelper()
	return start(ctx, c, on, "hold")
}

func start(ctx context.Context, c claimed, on string, arguments ...string) string {
	GinkgoHelper()
	pod := create(ctx, c, on, arguments...)
	expectRunning(ctx, pod)
	return pod
}

func create(ctx context.Context, c claimed, on string, arguments ...string) string {
	GinkgoHelper()
	return createPod(ctx, podWith(c, on, arguments...))
}

func createPod(ctx context.Context, pod *corev1.Pod) string {
	GinkgoHelper()
	_, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pod.Name
}

func podWith(c claimed, on string, arguments ...string) *corev1.Pod {
	container := corev1.Container{
		Name: "workload", Image: images.Workload, ImagePullPolicy: corev1.PullNever, Args: arguments,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	if c.block {
		container.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: device}}
	} else {
		container.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: folder}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: c.name + "-" + on},
		Spec: corev1.PodSpec{
			NodeSelector:  map[string]string{corev1.LabelHostname: on},
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{container},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.name},
			}}},
		},
	}
}

func expectRunning(ctx context.Context, pods ...string) {
	GinkgoHelper()
	for _, pod := range pods {
		Eventually(func(g Gomega) {
			p, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), pod)
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), func() string { return told(ctx, pod) })
	}
}

// told is what events say about a pod, the newest last.
func told(ctx context.Context, pod string) string {
	events, err := env.Kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, e := range events.Items {
		out = append(out, e.Reason+": "+e.Message)
	}
	return strings.Join(out, "\n")
}

// do has a running pod do something with its volume, and returns what it prints.
func do(ctx context.Context, pod string, arguments ...string) string {
	GinkgoHelper()
	return env.Kubectl(ctx, append([]string{"exec", "-n", metav1.NamespaceDefault, pod, "--", "/usr/bin/workload"}, arguments...)...)
}

// try does so, and returns what it printed when it failed, too.
func try(ctx context.Context, pod string, arguments ...string) (string, error) {
	arguments = append([]string{"--kubeconfig=" + env.Cluster.AdminKubeconfig(), "exec", "-n", metav1.NamespaceDefault, pod, "--", "/usr/bin/workload"}, arguments...)
	out, err := exec.CommandContext(ctx, env.Cluster.Kubectl(), arguments...).CombinedOutput()
	return string(out), err
}

// end deletes pods and returns when their volumes are free.
func end(ctx context.Context, pods ...string) {
	GinkgoHelper()
	env.Kubectl(ctx, append([]string{"delete", "pod", "-n", metav1.NamespaceDefault, "--wait", "--timeout=2m", "--grace-period=2"}, pods...)...)
}

// copiedClass labels classes that newClass has made.
const copiedClass = "copy-of"

// newClass is one of ours with changes, as an administrator copies it.
func newClass(ctx context.Context, from, name string, change func(class map[string]any)) {
	GinkgoHelper()
	original, err := env.Kube.StorageV1().StorageClasses().Get(ctx, from, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	original.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: map[string]string{copiedClass: from}}
	content, err := json.Marshal(original)
	Expect(err).NotTo(HaveOccurred())
	class := fixture.Read(content)
	class.SetAPIVersion("storage.k8s.io/v1")
	class.SetKind("StorageClass")
	change(class.Object)
	_, err = env.Dynamic.Resource(storageClasses).Create(ctx, class, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
