package settings

import (
	"context"
	"errors"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	controllerName = "CephSettings"
	// resync finds settings that one of several API servers has dropped still.
	resync = 5 * time.Minute
	// crdKey is the queue's key for a changed CRD, which API servers go by after crdSettles at the latest.
	crdKey     = "crd"
	crdSettles = 5 * time.Second
)

// crd is the CustomResourceDefinition that may know the settings or not.
var crd = operatorv1.GroupVersion.WithResource("clustercsidrivers").GroupResource().String()

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	Reader Reader
	// Save remembers settings that are valid.
	Save func(context.Context, state.Settings) error
	// Live asks the API server for the ClusterCSIDriver, and Read for what is remembered.
	Live func(context.Context) (*unstructured.Unstructured, error)
	Read func(context.Context) (state.Settings, bool, error)
	// Apply applies metadata to the ClusterCSIDriver as a field manager.
	Apply func(ctx context.Context, cr *unstructured.Unstructured, manager string) error
}

type controller struct{ Config }

// New returns the controller that remembers valid settings, in the annotation and in the state
// ConfigMap, and tells of others. It writes CephSettingsDegraded with reasons InvalidSettings,
// SettingsLost and SyncError, and SettingsComplete with reason SettingsAnnotated; both are absent
// while all is well.
func New(config Config) factory.Controller {
	c := controller{config}
	return factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(c.Operator.Informer(), c.Remembered()).
		WithFilteredEventsInformersQueueKeyFunc(func(runtime.Object) string { return crdKey }, ctrl.Named(crd), c.CRDs).
		ToController(controllerName, c.Recorder)
}

func (c controller) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	if syncCtx.QueueKey() == crdKey {
		// What it dropped is there again, and the ClusterCSIDriver has not changed.
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, crdSettles)
	}
	cr, err := c.Reader.Resource()
	if err != nil || cr == nil {
		return err
	}
	spec, _, _, err := c.Operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	cached := cr.GetAnnotations()[driver.SettingsAnnotation]
	last, found, unread := c.Reader.Last()
	stand, problem := declaredIn(c.Driver, cr, last)
	if stand.pruned {
		if cr, err = c.live(ctx); apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		last, found, unread = c.read(ctx)
		stand, problem = declaredIn(c.Driver, cr, last)
	}
	if problem == nil {
		_, problem = stand.settings(c.Driver)
	}
	if found && problem != nil {
		if _, e := driver.ParseSettings(c.Driver, driver.MemberPath, last.Ceph); e != nil {
			unread = fmt.Errorf("%w; what ConfigMap %s remembers is of no help: %w", problem, c.Driver.StateConfigMap(), e)
		}
	}
	if unread == nil && errors.Is(problem, driver.ErrPrunedSettings) && found {
		stand.fields, problem = last.Ceph, nil // Somebody has removed the annotation.
	}
	failed := unread
	if problem == nil && failed == nil && spec.ManagementState == operatorv1.Managed {
		failed = c.keep(ctx, cr, stand, cached, found)
		if apierrors.ReasonForError(failed) != "" {
			return failed
		}
	}
	return condition.Say(ctx, c.Operator, c.Driver.FieldManager(controllerName), []string{condition.SettingsDegraded, condition.SettingsComplete},
		describe(c.Driver, stand, problem, kept{found, failed})...)
}

// live asks the API server. A watch that began on a CRD without the settings drops them from the cache
// although they are there again; the annotation, which is written then, gets through.
func (c controller) live(ctx context.Context) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	cr, err := c.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	return cr, nil
}

func (c controller) read(ctx context.Context) (state.Settings, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	return c.Read(ctx)
}

// keep writes valid settings where they outlive another CRD, and mistakes. Most clusters have none; a
// write would only delay their start. What is remembered follows the annotation in the cache: were it the
// first that readers see, they would go back to what the annotation of before says.
func (c controller) keep(ctx context.Context, cr *unstructured.Unstructured, stand declared, cached string, found bool) error {
	wanted := stand.wanted()
	if wanted != stand.annotation {
		return c.annotate(ctx, cr, wanted, stand.pruned)
	}
	if stand.fields == nil && !found || cached != wanted {
		return nil
	}
	return c.Save(ctx, state.Settings{Ceph: stand.fields, Annotated: wanted})
}

// annotate applies the annotation; none takes the operator's away. What a person has written since cr was read is
// not replaced where that was just now.
func (c controller) annotate(ctx context.Context, cr *unstructured.Unstructured, text string, live bool) error {
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	applied.SetGroupVersionKind(operatorv1.GroupVersion.WithKind("ClusterCSIDriver"))
	applied.SetName(cr.GetName())
	applied.SetUID(cr.GetUID()) // Otherwise the API server would create one that is gone.
	if live {
		applied.SetResourceVersion(cr.GetResourceVersion())
	}
	if text != "" {
		applied.SetAnnotations(map[string]string{driver.SettingsAnnotation: text})
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if err := c.Apply(ctx, applied, c.Driver.FieldManager(controllerName)); err != nil {
		return fmt.Errorf("writing annotation %s of ClusterCSIDriver %s: %w", driver.SettingsAnnotation, cr.GetName(), err)
	}
	return nil
}

// deadline bounds a request.
const deadline = 10 * time.Second

// kept is what is remembered: whether there is a record, and why it is unreadable or cannot be written.
type kept struct {
	found bool
	err   error
}

// describe returns the conditions for settings that cannot be read because of problem, or that are in
// force although the spec does not have them; none if all is well.
func describe(d driver.Driver, stand declared, problem error, last kept) []*condition.Said {
	degraded := func(reason, message string) []*condition.Said {
		return []*condition.Said{
			condition.New(condition.SettingsDegraded, operatorv1.ConditionTrue, reason, message),
		}
	}
	switch {
	case last.err != nil:
		return degraded(condition.SyncError, last.err.Error())
	case errors.Is(problem, driver.ErrPrunedSettings):
		return degraded(condition.SettingsLost, fmt.Sprintf("%v, and no copy is kept: set them with `%s`, or patch the CRD and set them there: `%s`",
			problem, byAnnotation(d, nil), wayBack(d, nil)))
	case problem != nil && last.found:
		return degraded(condition.InvalidSettings, problem.Error()+"; the settings that were valid last go on")
	case problem != nil:
		return degraded(condition.InvalidSettings, problem.Error()+"; until that is corrected, nothing is changed that settings decide")
	case !stand.pruned:
		return nil
	}
	return []*condition.Said{
		condition.New(condition.SettingsComplete, operatorv1.ConditionFalse, condition.SettingsAnnotated, fmt.Sprintf(
			"%v: the cluster's CRD does not know it. What the annotation %s says is in force. Change it there: %s; or in the spec, after both of: %s",
			driver.ErrPrunedSettings, driver.SettingsAnnotation, byAnnotation(d, stand.fields), wayBack(d, stand.fields))),
	}
}
