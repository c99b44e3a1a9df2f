package infraid

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	informersv1 "github.com/openshift/client-go/config/informers/externalversions/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Config is what the controller works with.
type Config struct {
	ctrl.Env
	// Said are the Infrastructures as the API server has them.
	Said   informersv1.InfrastructureInformer
	Memory Memory
	Save   func(context.Context, state.InfraID) error
	// Cluster is the Ceph cluster in use: before there is one, nothing carries an infra ID.
	Cluster *ctrl.Latest[ceph.Cluster]
}

type controller struct {
	Config
	name string
}

// New builds the controller <ConditionPrefix>InfraIDController, which remembers the infra ID once a
// Ceph cluster is in use. It writes the condition InfraIDCurrent, with the reason InfraIDChanged,
// while Infrastructure cluster says another one; otherwise the condition is absent.
func New(config Config) factory.Controller {
	c := controller{config, config.Driver.ConditionPrefix + "InfraIDController"}
	return config.Factory(c.name, c.sync).
		WithInformers(config.Said.Informer(), config.Remembered(), config.Cluster).
		ToController(c.name, config.Recorder)
}

func (c controller) sync(ctx context.Context, _ factory.SyncContext, managed operatorv1.ManagementState) error {
	said := ""
	infrastructure, err := c.Said.Lister().Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading Infrastructure %s: %w", name, err)
	}
	if err == nil {
		said = infrastructure.Status.InfrastructureName
	}
	remembered, found, err := c.Memory.Load()
	if err != nil {
		return err // Who needs the infra ID reports it.
	}
	if _, inUse := c.Cluster.Get(); !found && said != "" && inUse && managed == operatorv1.Managed {
		return c.Save(ctx, state.InfraID{ID: said})
	}
	return c.report(ctx, said, remembered.ID)
}

func (c controller) report(ctx context.Context, said, remembered string) error {
	types := []string{condition.InfraIDCurrent}
	if remembered == "" || said == remembered {
		return condition.Say(ctx, c.Operator, c.name, types)
	}
	return condition.Say(ctx, c.Operator, c.name, types,
		condition.New(condition.InfraIDCurrent, operatorv1.ConditionFalse, condition.InfraIDChanged, c.message(said, remembered)))
}

func (c controller) message(said, remembered string) string {
	return fmt.Sprintf("status.infrastructureName of Infrastructure %s is %q, but what this cluster has in Ceph carries %q, and the operator goes on as that. "+
		`Put the name back: oc patch infrastructure %s --subresource=status --type=merge -p %s. `+
		"If nothing in Ceph carries it any more, make the operator forget it: "+
		`oc -n %s patch configmap %s --type=json -p '[{"op":"remove","path":"/data/%s"}]'`,
		name, said, remembered, name, shell.Quote(fmt.Sprintf(`{"status":{"infrastructureName":%q}}`, remembered)), driver.Namespace, c.Driver.StateConfigMap(), state.InfraIDKey)
}
