// Package credentials keeps the Secrets with the cephx users that ceph-csi works as.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/latest"
)

// Keys of the Secrets, as ceph-csi reads them.
const (
	userIDKey  = "userID"
	userKeyKey = "userKey"
)

// Config is what the controller works with.
type Config struct {
	Driver   driver.Driver
	Operator v1helpers.OperatorClient
	Client   corev1client.SecretsGetter
	Secrets  coreinformers.SecretInformer
	// Cluster is the Ceph cluster in use.
	Cluster  *latest.Value[ceph.Cluster]
	Recorder events.Recorder
}

type controller struct {
	Config
	name string
}

// New builds the controller <ConditionPrefix>CredentialsController. It writes the Secrets
// driver.ProvisionerSecret and driver.NodeSecret when they differ from what they should
// be: both hold the user of the operator's own connection. Their names stand in every
// PersistentVolume and never change. While no Ceph cluster is known they stay as they are.
//
// It produces the condition CephCredentialsDegraded, with the reasons AsExpected and
// SyncError.
func New(config Config) factory.Controller {
	c := controller{config, config.Driver.ConditionPrefix + "CredentialsController"}
	ours := factory.NamesFilter(config.Driver.ProvisionerSecret(), config.Driver.NodeSecret())
	return factory.New().
		WithSync(c.sync).
		WithInformers(config.Operator.Informer(), config.Cluster).
		WithFilteredEventsInformers(ours, config.Secrets.Informer()).
		ToController(c.name, config.Recorder)
}

func (c controller) sync(ctx context.Context, _ factory.SyncContext) error {
	spec, _, _, err := c.Operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	if spec.ManagementState != operatorv1.Managed {
		return c.report(ctx, condition.Good(condition.CredentialsDegraded))
	}
	err = c.apply(ctx)
	if apierrors.IsConflict(err) {
		return err
	}
	degraded := condition.Good(condition.CredentialsDegraded)
	if err != nil {
		degraded = condition.New(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.SyncError, err.Error())
	}
	return errors.Join(err, c.report(ctx, degraded))
}

// passthrough gives the user of the operator's own connection to every Secret.
func passthrough(d driver.Driver, cluster ceph.Cluster) map[string]ceph.Credentials {
	return map[string]ceph.Credentials{
		d.ProvisionerSecret(): cluster.Credentials,
		d.NodeSecret():        cluster.Credentials,
	}
}

func (c controller) apply(ctx context.Context) error {
	cluster, known := c.Cluster.Get()
	if !known {
		return nil
	}
	wanted := passthrough(c.Driver, cluster)
	existing := map[string]*corev1.Secret{}
	for name := range wanted {
		secret, err := c.Secrets.Lister().Secrets(driver.Namespace).Get(name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, name, err)
		}
		existing[name] = secret
	}
	for _, secret := range decide(c.Driver, wanted, existing) {
		if _, _, err := resourceapply.ApplySecret(ctx, c.Client, c.Recorder, secret); err != nil {
			return fmt.Errorf("writing Secret %s/%s: %w", driver.Namespace, secret.Name, err)
		}
	}
	return nil
}

// decide returns the Secrets that are to be written, by name: those of wanted that existing
// lacks or has with another content, a key too many or without our mark. A user without
// name or key is never written.
func decide(d driver.Driver, wanted map[string]ceph.Credentials, existing map[string]*corev1.Secret) []*corev1.Secret {
	var out []*corev1.Secret
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		user := wanted[name]
		if user.UserID == "" || user.Key.Reveal() == "" {
			continue
		}
		data := map[string][]byte{userIDKey: []byte(user.UserID), userKeyKey: []byte(user.Key.Reveal())}
		if is := existing[name]; is != nil && d.Owns(is) && maps.EqualFunc(is.Data, data, slices.Equal) {
			continue
		}
		out = append(out, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: driver.Namespace,
				Name:      name,
				Labels:    map[string]string{driver.ManagedByLabel: d.OperatorName()},
			},
			Data: data,
		})
	}
	return out
}

func (c controller) report(ctx context.Context, degraded *applyoperatorv1.OperatorConditionApplyConfiguration) error {
	status := applyoperatorv1.OperatorStatus().WithConditions(degraded)
	if err := c.Operator.ApplyOperatorStatus(ctx, c.name, status); err != nil {
		return fmt.Errorf("writing condition %s: %w", condition.CredentialsDegraded, err)
	}
	return nil
}
