package uninstall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// staying has a pod that does not end before time has passed.
type staying struct{ until time.Time }

// List refuses, as client-go's limiter does, to ask when there would be no time for the answer.
func (s staying) List(ctx context.Context, _ metav1.ListOptions) (*corev1.PodList, error) {
	if deadline, limited := ctx.Deadline(); limited && time.Until(deadline) < time.Second {
		return nil, errors.New("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline")
	}
	if time.Now().After(s.until) {
		return &corev1.PodList{}, nil
	}
	return &corev1.PodList{Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "controller-1"}, Spec: corev1.PodSpec{NodeName: "worker-0"}}}}, nil
}

func TestWaitEnded(t *testing.T) {
	tests := map[string]struct {
		reason string
		lasts  time.Duration
		says   []string
	}{
		"Ends":  {"it took a while", podTimeout / 2, nil},
		"Stays": {"its node is lost, perhaps", time.Hour, []string{"controller-1 on node worker-0 still there after 2m0s", "kubectl delete pod controller-1 -n openshift-cluster-csi-drivers --force"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := waitEnded(t.Context(), staying{time.Now().Add(tc.lasts)}, "app=controller")
				if (err != nil) != (len(tc.says) > 0) {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				for _, says := range tc.says {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("%s: it does not say %q: %v", tc.reason, says, err)
					}
				}
			})
		})
	}
}
