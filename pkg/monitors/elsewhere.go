package monitors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/retry"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// elsewhereInterval is how often somebody else's objects are looked at without a cause.
	elsewhereInterval = time.Minute
	// elsewhereTimeout bounds the work on one of them.
	elsewhereTimeout = 20 * time.Second
)

// ElsewhereConfig is what the controller of somebody else's objects works with.
type ElsewhereConfig struct {
	ctrl.Env
	// Clusters are all Ceph clusters that are connected.
	Clusters *ctrl.Latest[[]ceph.Cluster]
}

type elsewhere struct {
	ElsewhereConfig
	name string
}

// NewElsewhere builds the controller <ConditionPrefix>ElsewhereController. It keeps mons
// current in objects that are not the operator's: in ConfigMaps with a config.json that the
// settings name, and in Secrets that a StorageClass of the driver names with
// monValueFromSecret. Only mons of connected Ceph clusters are written, and nothing else in
// the object; the other driver's operator may do the same at the same time.
//
// It produces the condition OutOfBandCurrent, which nobody aggregates, with the reasons
// AsExpected, Forbidden, InvalidTarget and SyncError.
func NewElsewhere(config ElsewhereConfig) factory.Controller {
	c := elsewhere{config, config.Driver.ConditionPrefix + "ElsewhereController"}
	return config.Factory(c.name, c.sync).
		ResyncEvery(elsewhereInterval).
		WithInformers(config.Clusters, config.StorageClasses.Informer()).
		ToController(c.name, config.Recorder)
}

func (c elsewhere) sync(ctx context.Context, _ factory.SyncContext, state operatorv1.ManagementState) error {
	targets, err := c.targets()
	if err != nil {
		return err
	}
	clusters, _ := c.Clusters.Get()
	if state != operatorv1.Managed || len(clusters) == 0 {
		return nil
	}
	var problems []problem
	for _, t := range targets {
		if err := c.keep(ctx, t, clusters); err != nil {
			problems = append(problems, c.describe(t, err))
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.report(ctx, problems)
}

// targets are sorted, each once.
func (c elsewhere) targets() ([]target, error) {
	settings, err := c.Settings()
	if err != nil { // pkg/settings reports it
		settings = driver.Settings{}
	}
	classes, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing StorageClasses: %w", err)
	}
	var out []target
	for _, t := range settings.OutOfBand {
		out = append(out, target{kind: configMapKind, namespace: t.Namespace, name: t.ConfigMap, key: ConfigKey,
			because: "spec.driverConfig.ceph.outOfBand of ClusterCSIDriver " + c.Driver.Name})
	}
	for _, class := range classes {
		if class.Provisioner == c.Driver.Name {
			out = append(out, secretsOf(class.Name, class.Parameters)...)
		}
	}
	slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.String()+a.because, b.String()+b.because) })
	return slices.CompactFunc(out, func(a, b target) bool { return a.String() == b.String() }), nil
}

// keep writes the target if its mons differ. A conflict is somebody else's write, perhaps the
// same one: look again.
func (c elsewhere) keep(ctx context.Context, t target, clusters []ceph.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, elsewhereTimeout)
	defer cancel()
	written := false
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		written, err = c.write(ctx, t, clusters)
		return err
	})
	if err == nil && written {
		c.Recorder.Eventf("MonAddressesUpdated", "Updated the mons in %s", t)
	}
	return err
}

func (c elsewhere) write(ctx context.Context, t target, clusters []ceph.Cluster) (bool, error) {
	if t.kind == secretKind && t.namespace == driver.Namespace {
		return false, unusable("is in namespace %s, whose Secrets have keys of Ceph, and are not changed for a StorageClass", driver.Namespace)
	}
	if t.kind == secretKind {
		secret, err := c.Kube.CoreV1().Secrets(t.namespace).Get(ctx, t.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		before, found := secret.Data[t.key]
		after, err := t.mons(before, found, clusters, c.Driver.PicksMons)
		if err != nil || string(after) == string(before) {
			return false, err
		}
		secret.Data[t.key] = after
		_, err = c.Kube.CoreV1().Secrets(t.namespace).Update(ctx, secret, metav1.UpdateOptions{})
		return err == nil, err
	}
	configMap, err := c.Kube.CoreV1().ConfigMaps(t.namespace).Get(ctx, t.name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	before, found := configMap.Data[t.key]
	after, err := t.entries([]byte(before), found, clusters, c.Driver.PicksMons)
	if err != nil || string(after) == before {
		return false, err
	}
	configMap.Data[t.key] = string(after)
	_, err = c.Kube.CoreV1().ConfigMaps(t.namespace).Update(ctx, configMap, metav1.UpdateOptions{})
	return err == nil, err
}

// problem is why a target is not current.
type problem struct{ reason, message string }

func (c elsewhere) describe(t target, err error) problem {
	switch {
	case apierrors.IsForbidden(err):
		return problem{condition.Forbidden, fmt.Sprintf("The operator may not keep %s current. Allow it: %s",
			t, c.Driver.AllowElsewhere(t.namespace))}
	case apierrors.IsNotFound(err):
		return problem{condition.InvalidTarget, fmt.Sprintf("%s does not exist; correct %s", t, t.because)}
	case errors.Is(err, errTarget):
		return problem{condition.InvalidTarget, fmt.Sprintf("%s %s; it is left alone. Correct it, or %s", t, reasonOf(err), t.because)}
	}
	return problem{condition.SyncError, fmt.Sprintf("Keeping %s current: %v", t, err)}
}

func (c elsewhere) report(ctx context.Context, problems []problem) error {
	current := condition.New(condition.OutOfBandCurrent, operatorv1.ConditionTrue, condition.AsExpected, "")
	if len(problems) > 0 {
		var messages []string
		for _, p := range problems {
			messages = append(messages, p.message)
		}
		current = condition.New(condition.OutOfBandCurrent, operatorv1.ConditionFalse, problems[0].reason, strings.Join(messages, "\n"))
	}
	return condition.Say(ctx, c.Operator, c.name, nil, current)
}
