package uninstall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// podTimeout is how long a deleted Deployment's pods may take to end.
	podTimeout = 2 * time.Minute
	// requestTimeout bounds a request. It is none of podTimeout's business: near its end, the
	// client would refuse to ask.
	requestTimeout = 10 * time.Second
)

// podLister is of one namespace.
type podLister interface {
	List(ctx context.Context, o metav1.ListOptions) (*corev1.PodList, error)
}

// waitEnded waits until there are no such pods any more.
func waitEnded(ctx context.Context, pods podLister, selector string) error {
	var left []corev1.Pod
	err := wait.PollUntilContextTimeout(ctx, time.Second/2, podTimeout, true, func(context.Context) (bool, error) {
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		list, err := pods.List(request, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, fmt.Errorf("listing pods %s: %w", selector, err)
		}
		left = list.Items
		return len(left) == 0, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || len(left) == 0 {
		return err
	}
	var names []string
	for _, pod := range left {
		names = append(names, fmt.Sprintf("%s on node %s", pod.Name, pod.Spec.NodeName))
	}
	return fmt.Errorf("%s still there after %s; see why, or if the node is lost: `kubectl delete pod %s -n %s --force`",
		strings.Join(names, ", "), podTimeout, left[0].Name, driver.Namespace)
}
