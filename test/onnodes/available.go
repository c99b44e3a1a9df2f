package onnodes

import (
	"context"
	"fmt"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// patience is far above what a busy machine needs.
	patience = 5 * time.Minute
	interval = 50 * time.Millisecond
)

// until waits for a condition, whose error says what is missing.
func until(ctx context.Context, missing func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		last = missing(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return nil
}

// Available waits until a driver is, and its StorageClass is there.
func (c *Cluster) Available(ctx context.Context, d driver.Driver) error {
	return until(ctx, func(ctx context.Context) error {
		current, err := c.drivers.Get(ctx, d.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unavailable(current.Status.Conditions); err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		_, err = c.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
		return err
	})
}

// unavailable says what keeps a driver from being Available: of Deployment and DaemonSet, both must be.
func unavailable(conditions []operatorv1.OperatorCondition) error {
	available := 0
	for _, condition := range conditions {
		if !strings.HasSuffix(condition.Type, operatorv1.OperatorStatusTypeAvailable) {
			continue
		}
		if condition.Status != operatorv1.ConditionTrue {
			return fmt.Errorf("%s is %s: %s", condition.Type, condition.Status, condition.Message)
		}
		available++
	}
	if available < 2 {
		return fmt.Errorf("%d conditions of type …Available, not one for each of Deployment and DaemonSet", available)
	}
	return nil
}
