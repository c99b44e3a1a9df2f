package clusterstorage

import (
	"regexp"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// conditionKey is how managed fields name a condition.
var conditionKey = regexp.MustCompile(`"k:{\\"type\\":\\"([^"\\]+)\\"}"`)

// forgotten says whether a field manager of ours owns conditions of Storage/cluster, of which this
// version writes none: another version has left them, and they would count for ever.
func (s starter) forgotten(storage *unstructured.Unstructured, manager string) bool {
	var types []string
	for _, entry := range storage.GetManagedFields() {
		if entry.Manager != manager || !IsOurs(manager) || entry.FieldsV1 == nil {
			continue
		}
		for _, match := range conditionKey.FindAllStringSubmatch(entry.FieldsV1.GetRawString(), -1) {
			types = append(types, match[1])
		}
	}
	known := s.conditionTypes()
	return len(types) > 0 && !slices.ContainsFunc(types, func(kind string) bool { return slices.Contains(known, kind) })
}

// conditionTypes are all that this version writes on Storage/cluster.
func (s starter) conditionTypes() []string {
	out := []string{
		condition.CRDPatchDegraded, condition.SharedRolesDegraded, condition.InfrastructureDegraded, condition.ServingCertificatesDegraded,
		condition.ClusterOperatorReported, ownPrefix + operatorv1.OperatorStatusTypeAvailable, ownPrefix + operatorv1.OperatorStatusTypeProgressing,
		ownPrefix + operatorv1.OperatorStatusTypeUpgradeable,
	}
	if s.reports() {
		out = append(out, condition.ManagementStateDegraded)
	}
	for _, o := range s.operators() {
		out = append(out, o.ConditionPrefix+operatorv1.OperatorStatusTypeProgressing, o.ConditionPrefix+crCondition+operatorv1.OperatorStatusTypeAvailable)
		for _, name := range []string{staticController, serviceMonitorController, deploymentController, crController} {
			out = append(out, o.ConditionPrefix+name+operatorv1.OperatorStatusTypeDegraded)
		}
		for _, c := range summary(o.ConditionPrefix, nil) {
			out = append(out, *c.Type)
		}
	}
	return out
}
