package clusterstorage

import (
	"context"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/managementstatecontroller"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	clusterOperatorName = "storage"
	// operatorVersion is the operand whose version the cluster version operator waits for.
	operatorVersion = "operator"
	// ownPrefix starts the types of the process's own conditions.
	ownPrefix = "CephClusterStorage"
)

// clusterOperator sums up the conditions of Storage/cluster in ClusterOperator storage, as
// CSO does; the version stands there once everything that is deployed runs its images.
func (s starter) clusterOperator() factory.Controller {
	clusterOperators := s.clients.configInformers.Config().V1().ClusterOperators()
	syncer := status.NewClusterOperatorStatusController(
		clusterOperatorName, nil, s.clients.config.ConfigV1(), clusterOperators, s.clients.storage, s.versions, s.recorder, clock.RealClock{})
	syncer.WithRelatedObjectsFunc(func() (bool, []configv1.ObjectReference) {
		return true, s.relatedObjects()
	})
	return s.controller(controller{
		name: ownPrefix + "Operator", always: true, quiet: true,
		// Degraded becomes visible by the passing of time.
		resync:    time.Minute,
		informers: []factory.Informer{clusterOperators.Informer(), s.clients.ns().Apps().V1().DaemonSets().Informer()},
		sync: func(ctx context.Context, syncCtx factory.SyncContext) error {
			if s.otherGlue() || !s.reports() || !s.hasState() {
				return nil
			}
			if s.reached() {
				s.versions.SetVersion(operatorVersion, s.Version)
			}
			return syncer.Sync(ctx, syncCtx)
		},
	})
}

// hasState says whether Storage/cluster has conditions to sum up: without any, ClusterOperator
// storage would be created with Available=Unknown.
func (s starter) hasState() bool {
	_, status, _, err := s.clients.storage.GetOperatorState()
	return err == nil && v1helpers.FindOperatorCondition(status.Conditions, ownPrefix+operatorv1.OperatorStatusTypeAvailable) != nil
}

// reached says whether everything that is deployed runs the version.
func (s starter) reached() bool {
	return s.managed() && len(s.waitedFor(s.wanted())) == 0
}

// wanted are the operators that run, or would but for the CRD.
func (s starter) wanted() []operator {
	return slices.DeleteFunc(s.operators(), func(o operator) bool { return !s.started(o) })
}

// waitedFor are the drivers of operators that the version has not reached.
func (s starter) waitedFor(operators []operator) []string {
	return names(operators, func(o operator) bool { return !s.upToDate(o) })
}

// names are the drivers of those operators of which something holds.
func names(operators []operator, holds func(operator) bool) []string {
	var out []string
	for _, o := range operators {
		if holds(o) {
			out = append(out, o.CSIDriverName)
		}
	}
	slices.Sort(out)
	return out
}

// moving is Progressing for as long as ClusterOperator storage reports another version, or where that is not ours to
// write, an operator of another version is the last that has applied what is deployed. What is rolled out later has
// conditions of its own.
func (s starter) moving(operators []operator) *condition.Said {
	kind := ownPrefix + operatorv1.OperatorStatusTypeProgressing
	if !s.reports() {
		late := names(operators, s.appliedByOther)
		if len(late) == 0 && s.says(kind) {
			late = s.waitedFor(operators) // What it has applied is still to be rolled out.
		}
		if len(late) > 0 {
			return condition.New(kind, operatorv1.ConditionTrue, condition.Deploying, "Moving "+movingTo(s.Version, late))
		}
		return condition.Good(kind)
	}
	message := "Moving "
	current, err := s.clients.configInformers.Config().V1().ClusterOperators().Lister().Get(clusterOperatorName)
	if err == nil {
		i := slices.IndexFunc(current.Status.Versions, func(v configv1.OperandVersion) bool { return v.Name == operatorVersion })
		if i >= 0 && current.Status.Versions[i].Version == s.Version {
			return condition.Good(kind)
		}
		if i >= 0 {
			message += "from " + current.Status.Versions[i].Version + " "
		}
	}
	return condition.New(kind, operatorv1.ConditionTrue, condition.Deploying, message+movingTo(s.Version, s.waitedFor(operators)))
}

// says whether Storage/cluster has a condition that is True.
func (s starter) says(kind string) bool {
	_, status, _, err := s.clients.storage.GetOperatorState()
	return err == nil && v1helpers.IsOperatorConditionTrue(status.Conditions, kind)
}

func movingTo(version string, late []string) string {
	if len(late) == 0 {
		return "to " + version
	}
	return "to " + version + ", waiting for the operator and the pods of " + strings.Join(late, " and ")
}

// managementState writes ManagementStateDegraded, as CSO does.
func (s starter) managementState() factory.Controller {
	inner := managementstatecontroller.NewOperatorManagementStateController(clusterOperatorName, s.clients.storage, s.recorder)
	return s.controller(controller{name: inner.Name(), always: true, quiet: true, sync: func(ctx context.Context, syncCtx factory.SyncContext) error {
		if s.otherGlue() || !s.reports() {
			return nil
		}
		if err := inner.Sync(ctx, syncCtx); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}})
}

// ownState tells of moves between versions. Where ClusterOperator storage is ours to write, it lets that have a state while
// no driver is wanted, too.
//
// It produces the conditions CephClusterStorageProgressing, and then …Available and …Upgradeable; where that is left to a
// CSO against --report-cluster-operator, CephClusterOperatorReported.
func (s starter) ownState() factory.Controller {
	informers := []factory.Informer{s.clients.ns().Apps().V1().DaemonSets().Informer()}
	if s.ReportClusterOperator {
		informers = append(informers, s.clients.configInformers.Config().V1().ClusterOperators().Informer())
	}
	return s.controller(controller{
		name: ownPrefix, always: true, quiet: true, informers: informers,
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			if s.otherGlue() || !s.managed() {
				return nil
			}
			conditions := []*condition.Said{s.moving(s.wanted())}
			switch {
			case s.reports():
				conditions = append(conditions, s.available(), condition.New(ownPrefix+operatorv1.OperatorStatusTypeUpgradeable, operatorv1.ConditionTrue, condition.AsExpected, ""))
			case s.ReportClusterOperator:
				conditions = append(conditions, reportedByCSO())
			}
			return s.clients.storage.ApplyOperatorStatus(ctx, ownPrefix, applyoperatorv1.OperatorStatus().WithConditions(conditions...))
		},
	})
}

func (s starter) available() *condition.Said {
	kind := ownPrefix + operatorv1.OperatorStatusTypeAvailable
	if !s.anyStarted() {
		return condition.New(kind, operatorv1.ConditionTrue, condition.NoCephCluster, undeclared(s.Kubernetes))
	}
	return condition.New(kind, operatorv1.ConditionTrue, condition.AsExpected, "")
}

// undeclared says how to declare a Ceph cluster, with the tool that administrators have.
func undeclared(kubernetes bool) string {
	tool := "oc"
	if kubernetes {
		tool = "kubectl"
	}
	return "No Ceph cluster is declared. Declare one with `" + driver.Declare(tool) + "`"
}
