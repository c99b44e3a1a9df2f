package clusterstorage

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestCSOKnowsCeph(t *testing.T) {
	deployment := func(namespace, name string, variables ...string) *appsv1.Deployment {
		out := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		c := corev1.Container{}
		for _, v := range variables {
			c.Env = append(c.Env, corev1.EnvVar{Name: v, Value: "x"})
		}
		out.Spec.Template.Spec.Containers = []corev1.Container{{}, c}
		return out
	}
	const image = "CEPH_CSI_DRIVER_OPERATOR_IMAGE"
	tests := map[string]struct {
		reason string
		cso    *appsv1.Deployment
		want   bool
	}{
		"None":    {"a cluster without CSO", deployment("default", "somebody-elses", image), false},
		"Stock":   {"a CSO that knows other drivers", deployment("openshift-cluster-storage-operator", "cluster-storage-operator", "AWS_EBS_DRIVER_OPERATOR_IMAGE"), false},
		"Ceph":    {"a CSO that knows Ceph", deployment("openshift-cluster-storage-operator", "cluster-storage-operator", "AWS_EBS_DRIVER_OPERATOR_IMAGE", image), true},
		"Ourself": {"cluster-storage has the same variable", deployment("openshift-cluster-csi-drivers", "ceph-cluster-storage", image), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := CSOKnowsCeph(t.Context(), fake.NewClientset(tc.cso))
			if err != nil || got != tc.want {
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}
