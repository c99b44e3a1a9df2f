package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

func TestLargest(t *testing.T) {
	of := func(pod, label, container string, private int) onnodes.Container {
		return onnodes.Container{
			Pod:  corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Labels: map[string]string{"app": label}}},
			Name: container, Private: private,
		}
	}
	containers := []onnodes.Container{
		of("a-0", "a", "driver", 5), of("a-0", "a", "probe", 1), of("a-1", "a", "driver", 4), of("a-1", "a", "probe", 3), of("b-0", "b", "driver", 100),
	}
	tests := map[string]struct {
		reason, name string
		want         float64
	}{
		"Container": {"the pod in which it has most", "driver", 5},
		"Pod":       {"all its containers", all, 7},
		"None":      {"there is none of that name", "proxy", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := largest(containers, "app", "a", tc.name); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
