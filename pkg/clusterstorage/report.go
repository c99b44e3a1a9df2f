package clusterstorage

import (
	"context"
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// report writes <name>Degraded and returns err.
func (s starter) report(ctx context.Context, name string, err error) error {
	degraded := condition.Good(name + operatorv1.OperatorStatusTypeDegraded)
	if err != nil {
		degraded = condition.New(name+operatorv1.OperatorStatusTypeDegraded, operatorv1.ConditionTrue, condition.SyncError, err.Error())
	}
	written := s.clients.storage.ApplyOperatorStatus(ctx, factory.ControllerFieldManager(name, "reportDegraded"), applyoperatorv1.OperatorStatus().WithConditions(degraded))
	if err != nil {
		return err
	}
	return written
}

// standDown takes back what we wrote into Storage/cluster: all of it, once a CSO that knows Ceph runs;
// what is said of a driver that nobody wants any more; and what no controller of this version writes.
func (s starter) standDown() factory.Controller {
	return s.controller(controller{
		name: "CephClusterStorageStandDown", always: true, quiet: true,
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			storage := s.clients.storageObject()
			if storage == nil {
				return nil
			}
			return Release(ctx, s.clients.dynamic, storage, func(manager string) bool {
				return s.outdated(manager) || s.managed() && s.forgotten(storage, manager)
			})
		},
	})
}

// outdated says whether what a field manager of ours wrote has lost its ground.
func (s starter) outdated(manager string) bool {
	if s.otherGlue() {
		return true
	}
	if !s.managed() {
		return false
	}
	for _, o := range s.operators() {
		if strings.HasPrefix(manager, FieldManager+o.ConditionPrefix) && s.decide(o) != run {
			return true
		}
	}
	return false
}

// Release gives up what those of our field managers own in the status of Storage/cluster for
// which outdated holds. What nobody else owns vanishes, and so does the manager: it applies an
// object without a status, where library-go would leave it the owner of an empty one.
func Release(ctx context.Context, client dynamic.Interface, storage *unstructured.Unstructured, outdated func(manager string) bool) error {
	var errs []error
	for _, entry := range storage.GetManagedFields() {
		if !IsOurs(entry.Manager) || entry.Subresource != "status" || !outdated(entry.Manager) {
			continue
		}
		nothing := &unstructured.Unstructured{Object: map[string]any{}}
		nothing.SetGroupVersionKind(operatorv1.GroupVersion.WithKind("Storage"))
		nothing.SetName(storage.GetName())
		_, err := client.Resource(storages).ApplyStatus(ctx, storage.GetName(), nothing, metav1.ApplyOptions{FieldManager: entry.Manager, Force: true})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("removing the conditions of %s from Storage/%s: %w", entry.Manager, storage.GetName(), err))
		}
	}
	return utilerrors.NewAggregate(errs)
}
