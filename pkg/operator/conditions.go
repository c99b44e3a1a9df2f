package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/apiserver/jsonpatch"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// conditionPause is between two writes of conditions that nobody waits for: a start has news of all
// controllers within it.
const conditionPause = 500 * time.Millisecond

// conditionWriter writes all conditions of a ClusterCSIDriver, as one field manager, so that what this
// version does not say disappears by itself.
type conditionWriter struct {
	driver driver.Driver
	board  *condition.Board
	client *maybeWithout
	clock  clock.PassiveClock

	// last is what was written last, and lastAt when, or when it was compared; only one worker runs sync.
	last   *applyoperatorv1.OperatorStatusApplyConfiguration
	lastAt time.Time
	// written is last as text, and the version that the cache had before it: until that shows the write, library-go
	// would compare with what stood before, and write the same again.
	written struct{ seen, status string }
}

// controller writes what the board adds up to.
func (w *conditionWriter) controller(env ctrl.Env) factory.Controller {
	name := w.driver.ConditionPrefix + "DriverConditionsController"
	return factory.New().
		WithSync(w.sync).
		WithControllerInstanceName(name).
		WithInformers(env.Operator.Informer(), w.board).
		ToController(name, env.Recorder)
}

func (w *conditionWriter) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	return ctrl.Retry(syncCtx.Queue(), w.bring(ctx, syncCtx))
}

// bring brings the conditions up to date.
func (w *conditionWriter) bring(ctx context.Context, syncCtx factory.SyncContext) error {
	_, status, _, err := w.client.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil // There is nowhere to write to.
	}
	if err != nil {
		return fmt.Errorf("reading the conditions of ClusterCSIDriver %s: %w", w.driver.Name, err)
	}
	sum := w.board.Sum(status)
	if wait := conditionPause - w.clock.Since(w.lastAt); wait > 0 && !pressing(w.last, sum) {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	if err := w.write(ctx, sum); err != nil {
		return err
	}
	return w.removeStale(ctx, status.Conditions, sum)
}

func (w *conditionWriter) write(ctx context.Context, sum *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	text, err := json.Marshal(sum) // before library-go adds times
	if err != nil {
		return fmt.Errorf("encoding the conditions of ClusterCSIDriver %s: %w", w.driver.Name, err)
	}
	now := w.written
	now.seen, now.status = w.client.seen(), string(text)
	if now == w.written {
		return nil
	}
	last := *sum
	last.Conditions = slices.Clone(sum.Conditions)
	err = w.client.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, w.manager(), sum)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the conditions of ClusterCSIDriver %s: %w", w.driver.Name, err)
	}
	w.last, w.lastAt, w.written = &last, w.clock.Now(), now
	return nil
}

func (w *conditionWriter) manager() string { return w.driver.OperatorName() + "-conditions" }

// pressing says that somebody waits for a change: one of availability, or a condition that goes Degraded.
func pressing(last, sum *applyoperatorv1.OperatorStatusApplyConfiguration) bool {
	if last == nil {
		return true
	}
	return slices.ContainsFunc(sum.Conditions, func(c condition.Said) bool {
		changed := !slices.ContainsFunc(last.Conditions, func(before condition.Said) bool {
			return *before.Type == *c.Type && *before.Status == *c.Status
		})
		return changed && (strings.HasSuffix(*c.Type, operatorv1.OperatorStatusTypeAvailable) ||
			strings.HasSuffix(*c.Type, operatorv1.OperatorStatusTypeDegraded) && *c.Status == operatorv1.ConditionTrue)
	})
}

// removeStale removes conditions that other versions of this operator have written and this one does not
// say: they would count for ever. What is somebody else's stays.
func (w *conditionWriter) removeStale(ctx context.Context, held []operatorv1.OperatorCondition, sum *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	said := typesOf(sum)
	ours := formerlyOurs(w.client.cached(), w.driver)
	if len(stale(held, w.driver.ConditionPrefix, said, ours)) == 0 {
		return nil
	}
	// The patch needs positions that are current.
	_, status, _, err := w.client.GetOperatorStateWithQuorum(ctx)
	if err != nil {
		return fmt.Errorf("reading the conditions of ClusterCSIDriver %s: %w", w.driver.Name, err)
	}
	patch := jsonpatch.New()
	for removed, i := range stale(status.Conditions, w.driver.ConditionPrefix, said, ours) {
		path := fmt.Sprintf("/status/conditions/%d", i-removed)
		patch.WithRemove(path, jsonpatch.NewTestCondition(path+"/type", status.Conditions[i].Type))
	}
	if patch.IsEmpty() {
		return nil
	}
	return w.client.PatchOperatorStatus(ctx, patch)
}

func typesOf(status *applyoperatorv1.OperatorStatusApplyConfiguration) []string {
	var out []string
	for _, c := range status.Conditions {
		out = append(out, *c.Type)
	}
	return out
}

// formerlyOurs says of a condition's type whether a field manager of this operator owns it: they were named after the
// operator, or as library-go's after the driver.
func formerlyOurs(cr *unstructured.Unstructured, d driver.Driver) func(conditionType string) bool {
	return func(conditionType string) bool {
		return cr != nil && slices.ContainsFunc(cr.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			named := strings.HasPrefix(e.Manager, d.OperatorName()+"-") || strings.HasPrefix(e.Manager, d.ConditionPrefix)
			return named && e.FieldsV1 != nil &&
				strings.Contains(e.FieldsV1.GetRawString(), fmt.Sprintf(`"k:{\"type\":\"%s\"}"`, conditionType))
		})
	}
}

// stale returns the positions, ascending, of conditions that are not said any more: those with our prefixes
// that are counted, those that this version declares, and those that are ours by their owners.
func stale(held []operatorv1.OperatorCondition, prefix string, said []string, ours func(conditionType string) bool) []int {
	var out []int
	for i, c := range held {
		named := condition.Counted(c.Type) && (strings.HasPrefix(c.Type, prefix) || strings.HasPrefix(c.Type, "Ceph"))
		if !slices.Contains(said, c.Type) && (named || slices.Contains(condition.Types(), c.Type) || ours(c.Type)) {
			out = append(out, i)
		}
	}
	return out
}

// operandConditions describe operands; they make no sense while there are none.
func operandConditions(d driver.Driver) []string {
	var out []string
	for _, name := range []string{controllerName(d), nodeName(d)} {
		out = append(out, name+operatorv1.OperatorStatusTypeAvailable, name+operatorv1.OperatorStatusTypeProgressing)
	}
	return out
}

// silentWhileClosed are the types and parts of which nobody but the gate speaks while it is closed: what was said before
// would stand for ever, and what never was would keep a sum unknown.
func silentWhileClosed(d driver.Driver) []string {
	return append(operandConditions(d), condition.NodePodsCurrent, condition.CredentialsDegraded, condition.CredentialsMinted,
		condition.SnapshotClassesDegraded, condition.SnapshotClassesUsable)
}

// libraryConditions are the types that library-go's controllers say.
func libraryConditions(d driver.Driver) []string {
	out := append(operandConditions(d), condition.ManagementStateDegraded, condition.ConfigObservationDegraded, condition.StorageClassControllerDegraded)
	for _, name := range []string{controllerName(d), nodeName(d), staticName(d), serviceMonitorName(d)} {
		out = append(out, name+operatorv1.OperatorStatusTypeDegraded)
	}
	return out
}
