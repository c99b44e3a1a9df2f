// Package monitors keeps the Secret with ceph-csi's config.json, from which every pod of the
// driver learns the mons of a Ceph cluster.
package monitors

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourcehelper"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// ConfigKey is the key of Secret driver.ConfigSecret; ceph-csi reads the file of that name.
const ConfigKey = "config.json"

// Config is what the controller works with.
type Config struct {
	ctrl.Env
	// Cluster is the Ceph cluster in use, Clusters are all that are connected, Placement is the
	// place of the default StorageClass.
	Cluster   *ctrl.Latest[ceph.Cluster]
	Clusters  *ctrl.Latest[[]ceph.Cluster]
	Placement *ctrl.Latest[ceph.Placement]
}

// Controller keeps the Secret.
type Controller struct {
	factory.Controller
	Config
	// Took is how long a monmap took to the Secret, Written which are there.
	Took    ctrl.Latest[Sync]
	Written ctrl.Latest[Written]

	name       string
	clusters   state.Record[state.Cluster]
	placements state.Record[state.Placement]
}

// New builds the controller <ConditionPrefix>MonitorsController. It writes Secret
// driver.ConfigSecret when its content differs from what is known: at once when the mons
// of a Ceph cluster are, and, for CephFS, the subvolume group and the journal. ceph-csi reads the file with each
// call, so nothing restarts. What cannot be read is never overwritten. Before Ceph has answered, the last known mons are taken from
// pkg/state, unless entries of other clusterIDs hang on those that stand there.
//
// It produces the condition CephMonitorsDegraded, with the reasons AsExpected, ConfigUnreadable and
// SyncError.
func New(config Config) *Controller {
	c := &Controller{
		Config:     config,
		name:       config.Driver.ConditionPrefix + "MonitorsController",
		clusters:   state.Clusters(config.Kube.CoreV1(), config.ConfigMaps.Lister(), config.Driver),
		placements: state.Placements(config.Kube.CoreV1(), config.ConfigMaps.Lister(), config.Driver),
	}
	c.Controller = config.Factory(c.name, c.sync).
		WithInformers(config.Cluster, config.Clusters, config.Placement, config.StorageClasses.Informer(), ctrl.Where(config.PersistentVolumes.Informer(), c.matters)).
		WithFilteredEventsInformers(ctrl.Named(config.Driver.ConfigSecret()), config.Secrets.Informer()).
		WithFilteredEventsInformers(ctrl.Named(config.Driver.StateConfigMap()), config.ConfigMaps.Informer()).
		ToController(c.name, config.Recorder)
	return c
}

func (c *Controller) sync(ctx context.Context, _ factory.SyncContext, state operatorv1.ManagementState) error {
	degraded := condition.Good(condition.MonitorsDegraded)
	if state == operatorv1.Removed {
		return c.report(ctx, degraded)
	}
	if state != operatorv1.Managed {
		_ = c.apply(ctx, false) // Nothing is written; what is wrong is for whoever manages the Secret now.
		return c.report(ctx, degraded.WithMessage(fmt.Sprintf("managementState is %s: the mon addresses in Secret %s/%s may age",
			state, driver.Namespace, c.Driver.ConfigSecret())))
	}
	err := c.apply(ctx, true)
	if outdated(err) {
		return err
	}
	if errors.Is(err, ceph.ErrUnreadableConfig) {
		// Only a person can mend that: no retry.
		return c.report(ctx, condition.New(condition.MonitorsDegraded, operatorv1.ConditionTrue, condition.ConfigUnreadable, err.Error()))
	}
	if err != nil {
		degraded = condition.New(condition.MonitorsDegraded, operatorv1.ConditionTrue, condition.SyncError, err.Error())
	}
	return errors.Join(err, c.report(ctx, degraded))
}

// apply writes the Secret if it differs, and may be written.
func (c *Controller) apply(ctx context.Context, managed bool) error {
	where := driver.Namespace + "/" + c.Driver.ConfigSecret()
	existing, err := c.Secrets.Lister().Secrets(driver.Namespace).Get(c.Driver.ConfigSecret())
	missing := apierrors.IsNotFound(err)
	if missing {
		existing = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: c.Driver.ConfigSecret()}}
	} else if err != nil {
		return fmt.Errorf("reading Secret %s: %w", where, err)
	}
	recorded := readMembers(existing.Annotations)
	if recorded == nil && !c.Driver.Owns(existing) {
		recorded = members{}
	}
	mons := c.gather()
	content, ours, err := decide(mons, existing.Data[ConfigKey], recorded)
	if errors.Is(err, ceph.ErrUnreadableConfig) {
		return fmt.Errorf("%w; %s", err, c.advice())
	}
	if err != nil {
		return fmt.Errorf("making Secret %s: %w", where, err)
	}
	if content == nil {
		return nil
	}
	if c.Driver.Owns(existing) && bytes.Equal(content, existing.Data[ConfigKey]) &&
		existing.Annotations[membersAnnotation] == ours.String() {
		c.Written.Set(mons.epochs())
		return nil
	}
	if !managed {
		return nil
	}
	wanted := existing.DeepCopy()
	metav1.SetMetaDataLabel(&wanted.ObjectMeta, driver.ManagedByLabel, c.Driver.OperatorName())
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, membersAnnotation, ours.String())
	if wanted.Data == nil {
		wanted.Data = map[string][]byte{}
	}
	wanted.Data[ConfigKey] = content
	err = c.write(ctx, wanted, missing)
	if err != nil {
		return fmt.Errorf("writing Secret %s: %w", where, err)
	}
	c.Written.Set(mons.epochs())
	c.measure(existing.Data[ConfigKey])
	return nil
}

// write fails where the Secret is not the one any more that was read: it may have entries that only
// those know who wrote them.
func (c *Controller) write(ctx context.Context, wanted *corev1.Secret, missing bool) error {
	secrets := c.Kube.CoreV1().Secrets(wanted.Namespace)
	if missing {
		_, err := secrets.Create(ctx, wanted, metav1.CreateOptions{})
		if !outdated(err) {
			resourcehelper.ReportCreateEvent(c.Recorder, wanted, err)
		}
		return err
	}
	_, err := secrets.Update(ctx, wanted, metav1.UpdateOptions{})
	if !outdated(err) {
		resourcehelper.ReportUpdateEvent(c.Recorder, wanted, err)
	}
	return err
}

// outdated says that the cache, which will tell of what somebody has written, is behind: nothing has failed.
func outdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// advice is how a person mends a config.json that cannot be read.
func (c *Controller) advice() string {
	secret := c.Driver.ConfigSecret()
	return fmt.Sprintf("this is key %[3]s of Secret %[1]s/%[2]s, which is left as it is, because it may have entries that only you know. "+
		"Correct it: oc -n %[1]s extract secret/%[2]s, edit the file %[3]s, and oc -n %[1]s set data secret/%[2]s --from-file=%[3]s; "+
		"or, if nobody has added entries to it: oc -n %[1]s delete secret %[2]s, and it is made anew", driver.Namespace, secret, ConfigKey)
}

func (c *Controller) report(ctx context.Context, degraded *condition.Said) error {
	return condition.Say(ctx, c.Operator, c.name, nil, degraded)
}
