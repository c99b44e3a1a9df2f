package operatorprocess

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func operatorPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "operator-abc"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "operator", Args: []string{"start", "--driver=rbd", "--config=/conf/config.yaml", "--terminate-on-files=/conf/config.yaml"},
				Env: []corev1.EnvVar{
					{Name: "DRIVER_IMAGE", Value: "driver:1"},
					{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "c", MountPath: "/conf"}},
			}},
			Volumes: []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "operator-config"},
			}}}},
		},
	}
}

func TestOfPod(t *testing.T) {
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "operator-config"},
		Data:       map[string]string{"config.yaml": "kind: GenericOperatorConfig\nservingInfo:\n  minTLSVersion: VersionTLS13\n"},
	})
	got, err := OfPod(t.Context(), client, operatorPod())
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Name: "operator", Arguments: []string{"start", "--driver=rbd"},
		Variables: map[string]string{"DRIVER_IMAGE": "driver:1", "POD_NAME": "operator-abc"},
		Serving:   map[string]any{"kind": "GenericOperatorConfig", "servingInfo": map[string]any{"minTLSVersion": "VersionTLS13"}},
	}
	if diff := cmp.Diff(want.Variables, got.Variables) + cmp.Diff(want.Arguments, got.Arguments) + cmp.Diff(want.Serving, got.Serving); diff != "" || got.Name != want.Name {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfPodWithoutItsConfiguration(t *testing.T) {
	_, err := OfPod(t.Context(), fake.NewClientset(), operatorPod())
	if err == nil || !strings.Contains(err.Error(), "operator-abc") {
		t.Errorf("a pod whose ConfigMap is missing does not start: %v", err)
	}
}
