package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// maybeWithout is the client of a ClusterCSIDriver that may not exist, for all controllers.
type maybeWithout struct {
	v1helpers.OperatorClientWithFinalizers
	name     string
	resource dynamic.ResourceInterface
	// informer has every controller of the process among its listeners.
	informer cache.SharedIndexInformer
	// seen is the version of the ClusterCSIDriver in the informer's cache; empty without one.
	seen func() string

	// board has what controllers say; conditionWriter writes it.
	board *condition.Board
	// removal is what Removed is taken for: the driver is looked after for as long as something needs it.
	removal ctrl.Latest[operatorv1.ManagementState]
	// state is the newest that anybody has asked for.
	state atomic.Pointer[operatorState]
}

// operatorState is what the ClusterCSIDriver says in one version.
type operatorState struct {
	seen    string
	spec    *operatorv1.OperatorSpec
	status  *operatorv1.OperatorStatus
	version string
}

func newMaybeWithout(inner v1helpers.OperatorClientWithFinalizers, d driver.Driver, resource dynamic.ResourceInterface, board *condition.Board) *maybeWithout {
	m := &maybeWithout{
		OperatorClientWithFinalizers: inner, name: d.Name, resource: resource, informer: ctrl.Together(inner.Informer()),
		board: board,
	}
	m.seen = func() string {
		cr := m.cached()
		if cr == nil {
			return ""
		}
		return fmt.Sprintf("%s/%s", cr.GetUID(), cr.GetResourceVersion())
	}
	return m
}

// cached is the ClusterCSIDriver as the informer has it; nil where it has none.
func (m *maybeWithout) cached() *unstructured.Unstructured {
	object, _, err := m.informer.GetStore().GetByKey(m.name)
	cr, ok := object.(*unstructured.Unstructured)
	if err != nil || !ok {
		return nil
	}
	return cr
}

// Informer is that of the ClusterCSIDriver.
func (m *maybeWithout) Informer() cache.SharedIndexInformer { return m.informer }

// ApplyOperatorStatus leaves conditions on the board, whoever says them.
func (m *maybeWithout) ApplyOperatorStatus(_ context.Context, _ string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	m.board.Set(status)
	return nil
}

// GetOperatorState decodes each version once: every sync of every controller asks, which was a
// tenth of what a start allocates.
func (m *maybeWithout) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	now := m.state.Load()
	if seen := m.seen(); seen == "" || now == nil || now.seen != seen {
		spec, status, version, err := m.OperatorClientWithFinalizers.GetOperatorState()
		if err != nil {
			return spec, status, version, err
		}
		now = &operatorState{seen: seen, spec: spec, status: status, version: version}
		m.state.Store(now)
	}
	spec := now.spec.DeepCopy()
	if instead, decided := m.removal.Get(); decided && spec.ManagementState == operatorv1.Removed {
		spec.ManagementState = instead
	}
	// What a controller has said of its workload stands before it is written: it would write the workload again.
	status := now.status.DeepCopy()
	status.Generations = m.board.Generations(status.Generations)
	return spec, status, now.version, nil
}

// UpdateOperatorSpec writes spec.observedConfig, on which pods wait, and nothing else of the resource.
// library-go would send all of it as the cache has it, after a conflict with the newest version beside:
// what a person had set meanwhile would be taken back.
func (m *maybeWithout) UpdateOperatorSpec(ctx context.Context, _ string, spec *operatorv1.OperatorSpec) (*operatorv1.OperatorSpec, string, error) {
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/observedConfig", "value": spec.ObservedConfig}})
	if err != nil {
		return nil, "", fmt.Errorf("encoding spec.observedConfig of ClusterCSIDriver %s: %w", m.name, err)
	}
	written, err := m.resource.Patch(ctx, m.name, types.JSONPatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("writing spec.observedConfig of ClusterCSIDriver %s: %w", m.name, err)
	}
	out := operatorv1.ClusterCSIDriver{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, &out); err != nil {
		return nil, "", fmt.Errorf("reading ClusterCSIDriver %s: %w", m.name, err)
	}
	return &out.Spec.OperatorSpec, written.GetResourceVersion(), nil
}
