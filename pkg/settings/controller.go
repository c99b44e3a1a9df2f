package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	controllerName = "CephSettings"
	// resync finds a CRD that was put back: the ClusterCSIDriver is then another one in the
	// cache, but as its version is the same, no event tells of it. While all is well it costs
	// no request.
	resync = 10 * time.Second
	// deadline bounds a request.
	deadline = 10 * time.Second
)

// Config is all that the controller uses.
type Config struct {
	Reader
	Operator v1helpers.OperatorClient
	// Save remembers settings that are valid.
	Save func(context.Context, state.Settings) error
	// Live asks the API server for the ClusterCSIDriver.
	Live func(context.Context) (*unstructured.Unstructured, error)
	// ConfigMaps is the informer that Last rests on.
	ConfigMaps factory.Informer
	Recorder   events.Recorder
}

type controller struct{ Config }

// New returns the controller that remembers valid settings and tells of others. It writes
// CephSettingsDegraded with reasons InvalidSettings and SyncError, and SettingsComplete with
// reason SettingsLost; both are absent while all is well.
func New(config Config) factory.Controller {
	c := controller{config}
	return factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(c.Operator.Informer()).
		WithBareInformers(c.ConfigMaps).
		ToController(controllerName, c.Recorder)
}

func (c controller) sync(ctx context.Context, _ factory.SyncContext) error {
	cr, err := c.Resource()
	if err != nil || cr == nil {
		return err
	}
	spec, status, _, err := c.Operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	_, problem := driver.ReadSettings(c.Driver, cr)
	stale := false
	if errors.Is(problem, driver.ErrPrunedSettings) {
		if cr, err = c.live(ctx); err != nil {
			return err
		}
		var seen driver.Settings
		if seen, problem = driver.ReadSettings(c.Driver, cr); problem == nil {
			stale = true
			c.Seen.Set(seen)
		}
	}
	if !stale {
		c.Seen.Clear()
	}
	last, found, err := c.Last()
	if found && problem != nil {
		if _, e := driver.ParseSettings(c.Driver, last.Ceph); e != nil {
			err = fmt.Errorf("%w; what ConfigMap %s remembers is of no help: %w", problem, c.Driver.StateConfigMap(), e)
		}
	}
	if problem == nil && err == nil && spec.ManagementState == operatorv1.Managed {
		member, _ := driver.Member(cr)
		// Most clusters have no settings; a write would only delay their start.
		if member != nil || found {
			err = c.Save(ctx, state.Settings{Ceph: member})
		}
		if apierrors.ReasonForError(err) != "" {
			return err
		}
	}
	wanted := describe(c.Driver, problem, kept{last.Ceph, found, err})
	if stale && len(wanted) == 0 && !slices.ContainsFunc(status.Conditions, ours) {
		// Any write makes the API server send the resource once more, with the settings.
		wanted = append(wanted, condition.New(condition.SettingsComplete, operatorv1.ConditionTrue, condition.AsExpected, ""))
	}
	return c.report(ctx, status.Conditions, wanted)
}

// live asks the API server. A watch that began on a CRD without the settings may have dropped
// them from the cache although they are there again, and nothing would ever correct that.
func (c controller) live(ctx context.Context) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	cr, err := c.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	return cr, nil
}

func ours(held operatorv1.OperatorCondition) bool {
	return held.Type == condition.SettingsDegraded || held.Type == condition.SettingsComplete
}

// report writes the conditions there are to write, or removes those of an earlier report.
func (c controller) report(ctx context.Context, held []operatorv1.OperatorCondition, wanted []*applyoperatorv1.OperatorConditionApplyConfiguration) error {
	if len(wanted) == 0 && !slices.ContainsFunc(held, ours) {
		return nil
	}
	status := applyoperatorv1.OperatorStatus().WithConditions(wanted...)
	if err := c.Operator.ApplyOperatorStatus(ctx, c.Driver.OperatorName()+"-"+controllerName, status); err != nil {
		return fmt.Errorf("writing what is wrong with the settings: %w", err)
	}
	return nil
}

// kept is what is remembered: the member ceph, whether there is a record, why it is unreadable.
type kept struct {
	member map[string]any
	found  bool
	err    error
}

// describe returns the conditions for settings that cannot be read because of problem; none if
// all is well.
func describe(d driver.Driver, problem error, last kept) []*applyoperatorv1.OperatorConditionApplyConfiguration {
	degraded := func(reason, message string) []*applyoperatorv1.OperatorConditionApplyConfiguration {
		return []*applyoperatorv1.OperatorConditionApplyConfiguration{
			condition.New(condition.SettingsDegraded, operatorv1.ConditionTrue, reason, message),
		}
	}
	switch {
	case last.err != nil:
		return degraded(condition.SyncError, last.err.Error())
	case problem == nil:
		return nil
	case !errors.Is(problem, driver.ErrPrunedSettings) && last.found:
		return degraded(condition.InvalidSettings, problem.Error()+"; the settings that were valid last go on")
	case !errors.Is(problem, driver.ErrPrunedSettings):
		return degraded(condition.InvalidSettings, problem.Error()+"; until that is corrected, nothing is changed that settings decide")
	case !last.found:
		return degraded(condition.SettingsLost, problem.Error()+", and no copy is kept: "+wayBack(d, nil))
	}
	return []*applyoperatorv1.OperatorConditionApplyConfiguration{
		condition.New(condition.SettingsComplete, operatorv1.ConditionFalse, condition.SettingsLost,
			problem.Error()+": a CRD that does not know them was put back. The settings that were valid last go on; "+wayBack(d, last.member)),
	}
}
