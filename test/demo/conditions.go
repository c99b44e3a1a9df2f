package main

import (
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func is(status operatorv1.ConditionStatus) string { return "is " + string(status) }

func disabled(conditions []operatorv1.OperatorCondition) string {
	for _, c := range conditions {
		if c.Type == condition.Disabled {
			return is(c.Status) + ": " + c.Reason + ": " + c.Message
		}
	}
	return ""
}

// available is empty until both workloads have reported: before, one would speak for both.
func available(d driver.Driver, conditions []operatorv1.OperatorCondition) string {
	for _, workload := range []string{"DriverControllerServiceController", "DriverNodeServiceController"} {
		wanted := d.ConditionPrefix + workload + operatorv1.OperatorStatusTypeAvailable
		if !slices.ContainsFunc(conditions, func(c operatorv1.OperatorCondition) bool { return c.Type == wanted }) {
			return ""
		}
	}
	status, _ := union(conditions, operatorv1.OperatorStatusTypeAvailable, operatorv1.ConditionFalse)
	return status
}

// progressing leaves the messages out, which count pods.
func progressing(conditions []operatorv1.OperatorCondition) string {
	status, _ := union(conditions, operatorv1.OperatorStatusTypeProgressing, operatorv1.ConditionTrue)
	return status
}

func degraded(conditions []operatorv1.OperatorCondition) string {
	status, causes := union(conditions, operatorv1.OperatorStatusTypeDegraded, operatorv1.ConditionTrue)
	if len(causes) == 0 {
		return status
	}
	return status + ": " + strings.Join(causes, "; ")
}

// union sums up the conditions whose types have the suffix as cluster-storage-operator does:
// one of the status decisive decides, and those that have it are the causes. Without any such
// condition the result is empty.
func union(conditions []operatorv1.OperatorCondition, suffix string, decisive operatorv1.ConditionStatus) (string, []string) {
	var result operatorv1.ConditionStatus
	var causes []string
	for _, c := range conditions {
		if !strings.HasSuffix(c.Type, suffix) {
			continue
		}
		if c.Status == decisive {
			causes = append(causes, strings.TrimSuffix(c.Type, suffix)+", "+c.Reason+": "+c.Message)
		}
		if result != decisive {
			result = c.Status
		}
	}
	if result == "" {
		return "", nil
	}
	slices.Sort(causes)
	return is(result), causes
}
