package main

import (
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// conditions of a ClusterCSIDriver, by type.
type conditions map[string]operatorv1.OperatorCondition

func conditionsOf(object *unstructured.Unstructured) (conditions, error) {
	var decoded operatorv1.ClusterCSIDriver
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &decoded); err != nil {
		return nil, fmt.Errorf("decoding ClusterCSIDriver %s: %w", object.GetName(), err)
	}
	out := conditions{}
	for _, c := range decoded.Status.Conditions {
		out[c.Type] = c
	}
	return out, nil
}

func (c conditions) isTrue(kind string) bool { return c[kind].Status == operatorv1.ConditionTrue }

// available says whether both workloads of the driver are.
func (c conditions) available(d driver.Driver) bool {
	return c.isTrue(d.ConditionPrefix+"DriverControllerServiceController"+operatorv1.OperatorStatusTypeAvailable) &&
		c.isTrue(d.ConditionPrefix+"DriverNodeServiceController"+operatorv1.OperatorStatusTypeAvailable)
}

// turnedDegraded lists the conditions that went Degraded, once for each time.
func turnedDegraded(history []conditions) []operatorv1.OperatorCondition {
	var out []operatorv1.OperatorCondition
	before := conditions{}
	for _, now := range history {
		for kind, c := range now {
			if strings.HasSuffix(kind, operatorv1.OperatorStatusTypeDegraded) && now.isTrue(kind) && !before.isTrue(kind) {
				out = append(out, c)
			}
		}
		before = now
	}
	return out
}
