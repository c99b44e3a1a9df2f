package onnodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
)

// Claim asks for a volume of a StorageClass in the namespace default.
func (c *Cluster) Claim(ctx context.Context, name, class string) error {
	_, err := c.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	return err
}

// Bound waits until a claim is.
func (c *Cluster) Bound(ctx context.Context, name string) error {
	return until(ctx, func(ctx context.Context) error {
		claim, err := c.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
		if err == nil && claim.Status.Phase != corev1.ClaimBound {
			err = fmt.Errorf("claim %s is %s: %s", name, claim.Status.Phase, c.told(ctx, name))
		}
		return err
	})
}

// InUse waits until a node says that it uses the volume of a bound claim. A kubelet mounts nothing that is
// attached before it has said so, in its next status: each ten seconds, unless its configuration has another
// nodeStatusUpdateFrequency.
func (c *Cluster) InUse(ctx context.Context, claim string) error {
	bound, err := c.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, claim, metav1.GetOptions{})
	if err != nil {
		return err
	}
	volume, err := c.Kube.CoreV1().PersistentVolumes().Get(ctx, bound.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return until(ctx, func(ctx context.Context) error {
		nodes, err := c.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err == nil && !inUse(nodes.Items, volume.Spec.CSI) {
			err = fmt.Errorf("no node says that it uses volume %s", volume.Name)
		}
		return err
	})
}

func inUse(nodes []corev1.Node, volume *corev1.CSIPersistentVolumeSource) bool {
	name := corev1.UniqueVolumeName("kubernetes.io/csi/" + volume.Driver + "^" + volume.VolumeHandle)
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { return slices.Contains(n.Status.VolumesInUse, name) })
}

// Folder is where Mount has the volume of a claim.
func Folder(claim string) string { return "/data/" + claim }

// Mount starts a pod with the volumes of claims, and returns when it runs.
func (c *Cluster) Mount(ctx context.Context, name string, claims ...string) error {
	container := corev1.Container{
		Name: "workload", Image: images.Workload, ImagePullPolicy: corev1.PullNever, Args: []string{"hold"},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, claim := range claims {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: claim, MountPath: Folder(claim)})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	pod.Spec.Containers = []corev1.Container{container}
	pods := c.Kube.CoreV1().Pods(metav1.NamespaceDefault)
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	return until(ctx, func(ctx context.Context) error {
		current, err := pods.Get(ctx, name, metav1.GetOptions{})
		if err == nil && current.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("pod %s is %s: %s", name, current.Status.Phase, c.told(ctx, name))
		}
		return err
	})
}

// told is what events say about an object, the newest last.
func (c *Cluster) told(ctx context.Context, name string) string {
	events, err := c.Kube.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, e := range events.Items {
		out = append(out, e.Reason+": "+e.Message)
	}
	return strings.Join(out, "; ")
}

// Do has a running pod do something with its volumes, and returns what it prints.
func (c *Cluster) Do(ctx context.Context, pod string, arguments ...string) (string, error) {
	return c.KubectlIn(ctx, "", append([]string{"exec", "-n", metav1.NamespaceDefault, pod, "--", "/usr/bin/workload"}, arguments...)...)
}
