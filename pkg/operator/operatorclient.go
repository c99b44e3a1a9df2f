package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// maybeWithout is the client of a ClusterCSIDriver that may not exist: then conditions have
// nowhere to go, and that is no error. library-go would retry, and log, for ever.
type maybeWithout struct {
	v1helpers.OperatorClientWithFinalizers
	name     string
	resource dynamic.ResourceInterface
	// informer has every controller of the process among its listeners.
	informer cache.SharedIndexInformer
	// seen is the version of the ClusterCSIDriver in the informer's cache; empty without one.
	seen func() string

	// writing has one write at a time: of several at once, the API server would make all but one
	// again and again. A start writes the conditions of all controllers in the same instant, which
	// takes the API server most of a second.
	writing *turns
	// urgent starts the types of conditions that are written next: their controllers deploy the
	// driver, and go on when that is done.
	urgent string
	// written is what each field manager has written last.
	written map[string]written
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

// written is a write, and the version that the cache had before it.
type written struct{ seen, status string }

func newMaybeWithout(inner v1helpers.OperatorClientWithFinalizers, d driver.Driver, resource dynamic.ResourceInterface) *maybeWithout {
	m := &maybeWithout{
		OperatorClientWithFinalizers: inner, name: d.Name, resource: resource, informer: ctrl.Together(inner.Informer()),
		writing: newTurns(), written: map[string]written{}, urgent: d.ConditionPrefix + "Driver",
	}
	m.seen = func() string {
		object, exists, err := m.informer.GetStore().GetByKey(d.Name)
		if err != nil || !exists {
			return ""
		}
		o, err := meta.Accessor(object)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%s/%s", o.GetUID(), o.GetResourceVersion())
	}
	return m
}

// Informer is that of the ClusterCSIDriver.
func (m *maybeWithout) Informer() cache.SharedIndexInformer { return m.informer }

// ApplyOperatorStatus writes conditions, or nothing without a ClusterCSIDriver. library-go compares
// with the cache alone: as long as that does not show a write, which takes a while after the API
// server was away, each sync would write the same again.
func (m *maybeWithout) ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	defer m.writing.take(m.isUrgent(status))()
	text, err := json.Marshal(status) // before library-go adds times
	if err != nil {
		return fmt.Errorf("encoding the status of %s: %w", fieldManager, err)
	}
	now := written{seen: m.seen(), status: string(text)}
	if now.seen != "" && m.written[fieldManager] == now {
		return nil
	}
	err = m.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, fieldManager, status)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		m.written[fieldManager] = now
	}
	return err
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
	return spec, now.status.DeepCopy(), now.version, nil
}

func (m *maybeWithout) isUrgent(status *applyoperatorv1.OperatorStatusApplyConfiguration) bool {
	return slices.ContainsFunc(status.Conditions, func(c applyoperatorv1.OperatorConditionApplyConfiguration) bool {
		return strings.HasPrefix(ptr.Deref(c.Type, ""), m.urgent)
	})
}

// UpdateOperatorSpec writes spec.observedConfig, on which pods wait, and nothing else of the resource.
// library-go would send all of it as the cache has it, after a conflict with the newest version beside:
// what a person had set meanwhile would be taken back.
func (m *maybeWithout) UpdateOperatorSpec(ctx context.Context, _ string, spec *operatorv1.OperatorSpec) (*operatorv1.OperatorSpec, string, error) {
	defer m.writing.take(true)()
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
