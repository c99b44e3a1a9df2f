// Package conditiontest holds a ClusterCSIDriver in memory whose conditions behave as on a condition.Board:
// what is said stands until something else is said of its type. library-go's own fake never removes a condition.
package conditiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	jsonpatch "github.com/evanphx/json-patch"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	patchset "github.com/openshift/library-go/pkg/apiserver/jsonpatch"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

var errNotSupported = errors.New("not supported by conditiontest")

// Operator is a v1helpers.OperatorClient for the conditions of one ClusterCSIDriver.
type Operator struct {
	mu         sync.Mutex
	spec       *operatorv1.OperatorSpec
	conditions []operatorv1.OperatorCondition
	writes     int
	generation int64
	listeners  []cache.ResourceEventHandler
}

var _ v1helpers.OperatorClient = &Operator{}

// New returns a ClusterCSIDriver with that managementState and no condition.
func New(state operatorv1.ManagementState) *Operator {
	return &Operator{spec: &operatorv1.OperatorSpec{ManagementState: state}}
}

// Missing returns a client whose ClusterCSIDriver does not exist.
func Missing() *Operator { return &Operator{} }

// With adds conditions as another client has written them, and returns o.
func (o *Operator) With(conditions ...operatorv1.OperatorCondition) *Operator {
	o.conditions = append(o.conditions, conditions...)
	return o
}

// SetState changes spec.managementState, of a ClusterCSIDriver that it creates where there was none.
func (o *Operator) SetState(state operatorv1.ManagementState) {
	o.mu.Lock()
	created := o.spec == nil
	before := o.object()
	o.spec = &operatorv1.OperatorSpec{ManagementState: state}
	o.generation++
	now, listeners := o.object(), slices.Clone(o.listeners)
	o.mu.Unlock()
	for _, l := range listeners {
		if created {
			l.OnAdd(now, false)
		} else {
			l.OnUpdate(before, now)
		}
	}
}

func (o *Operator) object() *operatorv1.ClusterCSIDriver {
	return &operatorv1.ClusterCSIDriver{ObjectMeta: metav1.ObjectMeta{Generation: o.generation}}
}

// Writes counts the writes that changed something.
func (o *Operator) Writes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writes
}

// Condition returns the condition of that type without its time, or nil.
func (o *Operator) Condition(conditionType string) *operatorv1.OperatorCondition {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, held := range o.conditions {
		if held.Type == conditionType {
			return ptr.To(held)
		}
	}
	return nil
}

// Types lists the condition types that are there, sorted.
func (o *Operator) Types() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var types []string
	for _, c := range o.conditions {
		types = append(types, c.Type)
	}
	slices.Sort(types)
	return types
}

// ApplyOperatorStatus replaces the conditions that it has, and takes away those without a status.
func (o *Operator) ApplyOperatorStatus(_ context.Context, _ string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spec == nil {
		return notFound()
	}
	before := slices.Clone(o.conditions)
	for _, c := range status.Conditions {
		i := slices.IndexFunc(o.conditions, func(held operatorv1.OperatorCondition) bool { return held.Type == *c.Type })
		said := operatorv1.OperatorCondition{Type: *c.Type, Status: ptr.Deref(c.Status, ""), Reason: ptr.Deref(c.Reason, ""), Message: ptr.Deref(c.Message, "")}
		switch {
		case i < 0 && c.Status != nil:
			o.conditions = append(o.conditions, said)
		case i >= 0 && c.Status != nil:
			o.conditions[i] = said
		case i >= 0:
			o.conditions = slices.Delete(o.conditions, i, i+1)
		}
	}
	if !slices.Equal(before, o.conditions) {
		o.writes++
	}
	return nil
}

// PatchOperatorStatus applies a JSON patch to the list of conditions.
func (o *Operator) PatchOperatorStatus(_ context.Context, patch *patchset.PatchSet) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spec == nil {
		return notFound()
	}
	status := map[string]map[string][]operatorv1.OperatorCondition{"status": {"conditions": o.conditions}}
	document, err := json.Marshal(status)
	if err != nil {
		return err
	}
	operations, err := patch.Marshal()
	if err != nil {
		return err
	}
	decoded, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return err
	}
	document, err = decoded.Apply(document)
	if err != nil {
		return fmt.Errorf("the API server would refuse the patch: %w", err)
	}
	status = nil
	if err := json.Unmarshal(document, &status); err != nil {
		return err
	}
	o.conditions = status["status"]["conditions"]
	o.writes++
	return nil
}

// GetOperatorState returns spec and conditions, or a NotFound error.
func (o *Operator) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spec == nil {
		return nil, nil, "", notFound()
	}
	return ptr.To(*o.spec), &operatorv1.OperatorStatus{Conditions: slices.Clone(o.conditions)}, "1", nil
}

// GetOperatorStateWithQuorum is GetOperatorState: there is no cache that could be old.
func (o *Operator) GetOperatorStateWithQuorum(context.Context) (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	return o.GetOperatorState()
}

// Informer returns one that tells of what SetState does, and of nothing else.
func (o *Operator) Informer() cache.SharedIndexInformer {
	return informer{v1helpers.NewFakeSharedIndexInformer(), o}
}

type informer struct {
	cache.SharedIndexInformer
	operator *Operator
}

func (i informer) HasSynced() bool { return true }

func (i informer) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.operator.mu.Lock()
	defer i.operator.mu.Unlock()
	i.operator.listeners = append(i.operator.listeners, listener)
	return nil, nil
}

// GetObjectMeta returns empty metadata.
func (o *Operator) GetObjectMeta() (*metav1.ObjectMeta, error) { return &metav1.ObjectMeta{}, nil }

// UpdateOperatorSpec is refused: features never write the spec.
func (o *Operator) UpdateOperatorSpec(context.Context, string, *operatorv1.OperatorSpec) (*operatorv1.OperatorSpec, string, error) {
	return nil, "", errNotSupported
}

// UpdateOperatorStatus is refused: features apply their own conditions.
func (o *Operator) UpdateOperatorStatus(context.Context, string, *operatorv1.OperatorStatus) (*operatorv1.OperatorStatus, error) {
	return nil, errNotSupported
}

// ApplyOperatorSpec is refused: features never write the spec.
func (o *Operator) ApplyOperatorSpec(context.Context, string, *applyoperatorv1.OperatorSpecApplyConfiguration) error {
	return errNotSupported
}

func notFound() error {
	return apierrors.NewNotFound(operatorv1.Resource("clustercsidrivers"), "the driver's")
}
