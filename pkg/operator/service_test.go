package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

func TestServicePorts(t *testing.T) {
	service := func(ports ...int32) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "metrics"}}
		for _, port := range ports {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Port: port})
		}
		return s
	}
	tests := map[string]struct {
		reason   string
		state    operatorv1.ManagementState
		existing *corev1.Service
		want     []corev1.ServicePort
		updates  int
	}{
		"Same":      {"a second sync writes nothing", operatorv1.Managed, service(1, 2), service(1, 2).Spec.Ports, 0},
		"Edited":    {"Prometheus would scrape nothing", operatorv1.Managed, service(1, 3), service(1, 2).Spec.Ports, 1},
		"Removed":   {"one of them is gone", operatorv1.Managed, service(2), service(1, 2).Spec.Ports, 1},
		"Unmanaged": {"nothing may be written", operatorv1.Unmanaged, service(1, 3), service(1, 3).Spec.Ports, 0},
		"None":      {"the static resources create it", operatorv1.Managed, nil, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			if tc.existing != nil {
				client = fake.NewClientset(tc.existing)
				if err := index.Add(tc.existing); err != nil {
					t.Fatal(err)
				}
			}
			p := servicePorts{
				required: service(1, 2), operator: conditiontest.New(tc.state), services: corelisters.NewServiceLister(index),
				client: client.CoreV1(), recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
			}
			if err := p.restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := len(client.Actions()); got != tc.updates {
				t.Errorf("%s: %d requests, want %d", tc.reason, got, tc.updates)
			}
			var ports []corev1.ServicePort
			if tc.existing != nil {
				now, err := client.CoreV1().Services("ns").Get(t.Context(), "metrics", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				ports = now.Spec.Ports
			}
			if diff := cmp.Diff(tc.want, ports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
