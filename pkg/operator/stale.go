package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/apiserver/jsonpatch"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// aggregated are the suffixes by which cluster-storage-operator finds what it counts.
var aggregated = []string{
	operatorv1.OperatorStatusTypeAvailable, operatorv1.OperatorStatusTypeProgressing,
	operatorv1.OperatorStatusTypeDegraded, operatorv1.OperatorStatusTypeUpgradeable,
}

// staleConditions removes conditions that another version of this operator wrote and this one
// does not: they would count for ever. It knows its own, so no list has to be kept in step
// with renames; conditions without our prefixes, and those for people that our field managers do not
// own, are somebody else's and stay.
func (s starter) staleConditions() factory.Controller {
	name := s.driver.ConditionPrefix + "DriverStaleConditionsController"
	known := s.knownConditions()
	sync := func(ctx context.Context, _ factory.SyncContext) error {
		_, status, _, err := s.clients.operator.GetOperatorState()
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		ours := s.writtenByUs()
		if len(stale(status.Conditions, s.driver.ConditionPrefix, known, ours)) == 0 {
			return nil
		}
		// The patch needs positions that are current.
		if _, status, _, err = s.clients.operator.GetOperatorStateWithQuorum(ctx); err != nil {
			return err
		}
		patch := jsonpatch.New()
		for removed, i := range stale(status.Conditions, s.driver.ConditionPrefix, known, ours) {
			path := fmt.Sprintf("/status/conditions/%d", i-removed)
			patch.WithRemove(path, jsonpatch.NewTestCondition(path+"/type", status.Conditions[i].Type))
		}
		if patch.IsEmpty() {
			return nil
		}
		return s.clients.operator.PatchOperatorStatus(ctx, patch)
	}
	return factory.New().WithSync(sync).WithInformers(s.clients.operator.Informer()).ToController(name, s.recorder)
}

// writtenByUs says of a condition's type whether a field manager of this operator owns it.
func (s starter) writtenByUs() func(conditionType string) bool {
	object, _, err := s.clients.operator.Informer().GetStore().GetByKey(s.driver.Name)
	cr, ok := object.(*unstructured.Unstructured)
	return func(conditionType string) bool {
		return err == nil && ok && slices.ContainsFunc(cr.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			return strings.HasPrefix(e.Manager, s.driver.OperatorName()+"-") && e.FieldsV1 != nil &&
				strings.Contains(e.FieldsV1.GetRawString(), fmt.Sprintf(`"k:{\"type\":\"%s\"}"`, conditionType))
		})
	}
}

// stale returns the positions, ascending, of conditions that nobody of this version writes: aggregated
// ones with our prefixes, and for the others those that are ours by their owners.
func stale(held []operatorv1.OperatorCondition, prefix string, known []string, ours func(conditionType string) bool) []int {
	var out []int
	for i, c := range held {
		named := strings.HasPrefix(c.Type, prefix) || strings.HasPrefix(c.Type, "Ceph")
		counted := slices.ContainsFunc(aggregated, func(suffix string) bool { return strings.HasSuffix(c.Type, suffix) })
		switch {
		case counted && named && !slices.Contains(known, c.Type),
			!counted && c.Type != condition.Disabled && !slices.Contains(condition.Informational(), c.Type) && ours(c.Type):
			out = append(out, i)
		}
	}
	return out
}

// knownConditions are the aggregated conditions with our prefixes that this version writes.
func (s starter) knownConditions() []string {
	out := []string{
		condition.ConnectionDegraded, condition.MonitorsDegraded, condition.CredentialsDegraded,
		condition.PoolsDegraded, condition.SettingsDegraded, condition.SnapshotClassesDegraded,
		condition.ReleaseUpgradeable,
	}
	out = append(out, s.operandConditions()...)
	for _, name := range []string{s.controllerName(), s.nodeName(), s.staticName(), s.serviceMonitorName()} {
		out = append(out, name+operatorv1.OperatorStatusTypeDegraded)
	}
	return out
}
