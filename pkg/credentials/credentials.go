// Package credentials gives the driver its cephx users: users of its own with the narrowest
// caps, where the operator may make them, else the operator's own user. It keeps the Secrets
// that ceph-csi reads them from.
package credentials

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	// interval is how often Ceph is asked whether the users are still as they should be.
	interval    = time.Minute
	repeatAfter = 50 * time.Second
	// retryOutage is how soon after an outage, which pkg/connection reports, or after a refusal for now.
	retryOutage = 10 * time.Second
	// retrySearch is how soon after a search that failed, as without a mgr: each reads what all images are called.
	retrySearch = 20 * time.Second
	// retryDenied is how often mode Auto looks whether the operator's user may make users now.
	retryDenied = 10 * time.Minute
	// deadline bounds everything that one sync asks Ceph.
	deadline = 30 * time.Second
	// searchDeadline bounds the search for volumes that Kubernetes does not know: users are still to get what they need.
	searchDeadline = deadline / 2
)

// Ceph is what the controller uses of a Ceph cluster.
type Ceph interface {
	driver.Lists
	driver.Catalog
	// User reads a cephx user, by its name without "client.".
	User(ctx context.Context, id string) (ceph.User, error)
	// CreateUser makes a cephx user, or returns the one that exists with exactly these caps.
	CreateUser(ctx context.Context, id string, caps ceph.Caps, kind ceph.KeyType) (ceph.User, error)
	// RotateKey gives a cephx user another key.
	RotateKey(ctx context.Context, id string, kind ceph.KeyType) (ceph.User, error)
	// SetCaps replaces all caps of a cephx user.
	SetCaps(ctx context.Context, id string, caps ceph.Caps) error
	// Try returns nil when the operator's user may send the command of a trial, ErrDenied when not.
	Try(ctx context.Context, trial ceph.Trial) error
}

// Proof proves that something is no longer used; who has it among its informers wakes after each look.
type Proof interface {
	factory.Informer
	// Wait says whether something of who's waits to be withdrawn: nobody looks otherwise.
	Wait(who string, waits bool)
	// Since returns what was in use in any of the looks that prove that something else is not, of which
	// no use is known since a time. The error is why there are none.
	Since(time.Time) ([]usage.Usage, error)
}

// Session is a connection of the controller's own.
type Session interface {
	Ceph
	Close()
}

// Memory is a state.Record.
type Memory interface {
	Load() (state.CephUsers, bool, error)
	Save(ctx context.Context, value state.CephUsers) error
}

// Config is what the controller works with.
type Config struct {
	ctrl.Env
	// Cluster is the Ceph cluster of the default classes.
	Cluster *ctrl.Latest[ceph.Cluster]
	// Live returns the connection to the Ceph cluster with that fsid; false while there is none.
	Live func(fsid string) (Ceph, bool)
	// Dial makes another connection, also as one of the driver's users, to try its key.
	Dial func(ctx context.Context, source ceph.Source) (Session, error)
	// Usage tells of a new class a little later than StorageClasses, and of volumes too.
	Usage *ctrl.Latest[usage.Usage]
	// Proof is asked before caps shrink.
	Proof Proof
	// Placement is the place of the default StorageClass.
	Placement *ctrl.Latest[ceph.Placement]
	// Memory outlives the process: who has had users made for it never gets the operator's own by default.
	Memory Memory
	// Minted is set once it is known whether the driver works with users that were made for it.
	Minted *ctrl.Latest[bool]
	// Image is the driver's. Kernels are the nodes', by their names; who never asks for them spares
	// everybody the watch. They wake the controller as Triggers do.
	Image   string
	Kernels func() (map[string]string, bool)
	// Open says that the driver is to be deployed; Triggers wake the controller when that changes.
	Open     func() bool
	Triggers []factory.Informer
}

// Controller keeps the driver's users.
type Controller struct {
	factory.Controller
	Config
	// Granted is the placement once the driver's users have the caps for it.
	Granted ctrl.Latest[ceph.Placement]
	Report  ctrl.Latest[Users]

	name string
	// used is what the users have rights to, last what Ceph said of them.
	used scope
	last answer
	// caps are those that users were given, by Ceph cluster and name.
	caps map[[2]string]ceph.Caps
}

// New builds the controller <ConditionPrefix>CredentialsController. Mode Mint makes two users
// in Ceph, driver.ProvisionerUser and driver.NodeUser, and keeps their caps: those that the
// default place, all classes and all volumes need. Caps grow at once, and shrink on proof only;
// while the default place or the volumes are not known, they only grow. Users are never deleted:
// mounts rest on them.
//
// The Secrets driver.ProvisionerSecret and driver.NodeSecret follow, in mode Passthrough with
// the user of the operator's own connection. Their names stand in every PersistentVolume and
// never change. While nobody knows better, they stay as they are.
//
// It produces the condition CephCredentialsDegraded, with the reasons AsExpected, AccessDenied
// (in mode Mint), InvalidSettings and SyncError; and CredentialsMinted, with the reasons
// Passthrough and, where there is something to say of minted users, AsExpected.
func New(config Config) *Controller {
	c := &Controller{Config: config, caps: map[[2]string]ceph.Caps{}, name: config.Driver.ConditionPrefix + "CredentialsController"}
	ours := ctrl.Named(config.Driver.ProvisionerSecret(), config.Driver.NodeSecret())
	c.Controller = config.Factory(c.name, c.sync).
		ResyncEvery(interval).
		WithInformers(config.Cluster, config.Placement, config.Usage, config.Proof).
		WithInformers(config.Infrastructures.Informer(), config.StorageClasses.Informer()).
		WithInformers(config.Triggers...).
		WithFilteredEventsInformers(ours, config.Secrets.Informer()).
		ToController(c.name, config.Recorder)
	return c
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	open := c.Open()
	if state != operatorv1.Managed || !open {
		c.Proof.Wait(c.name, false)
	}
	if !open {
		return nil // What pkg/gate has not decided yet is not open either; it speaks while it is closed.
	}
	if state != operatorv1.Managed {
		return c.report(ctx, condition.Good(condition.CredentialsDegraded))
	}
	in, err := c.gather()
	if err != nil {
		// Only a person can mend that: no retry.
		return c.report(ctx, degraded(err))
	}
	if in.cluster.FSID == "" {
		return nil
	}
	question := ask(in)
	due, wait := c.last.due(question, c.Clock.Now())
	if due {
		wait = c.put(ctx, in, question)
	}
	c.Proof.Wait(c.name, c.last.wide)
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
	if !c.last.serves(question) {
		return nil
	}
	if strong(append(slices.Collect(maps.Values(c.last.users)), in.cluster.Credentials)...) {
		in.kernels, _ = c.Kernels()
	}
	return c.act(ctx, in, verdict(c.Driver, in, c.last, c.last.covers(question)))
}

// act brings Secrets, the other controllers and the conditions to what was decided.
func (c *Controller) act(ctx context.Context, in input, decided outcome) error {
	err := c.remember(ctx, decided.report.Mode)
	if err == nil {
		err = c.apply(ctx, decided.secrets)
	}
	if apierrors.IsConflict(err) {
		return err
	}
	if err != nil {
		return errors.Join(err, c.report(ctx, degraded(err)))
	}
	if decided.granted && in.placed {
		c.Granted.Set(in.placement)
	}
	if decided.report.Mode != "" {
		c.Report.Set(decided.report)
	}
	return c.report(ctx, decided.conditions...)
}

// remember keeps who the users are before anybody is given their keys.
func (c *Controller) remember(ctx context.Context, mode string) error {
	if mode == "" {
		return nil
	}
	minted := mode == string(driver.CredentialsMint)
	c.Minted.Set(minted)
	return c.Memory.Save(ctx, state.CephUsers{Minted: minted})
}

func degraded(err error) *condition.Said {
	reason := condition.SyncError
	if errors.Is(err, driver.ErrInvalidSettings) {
		reason = condition.InvalidSettings
	}
	return condition.New(condition.CredentialsDegraded, operatorv1.ConditionTrue, reason, err.Error())
}

func (c *Controller) report(ctx context.Context, conditions ...*condition.Said) error {
	return condition.Say(ctx, c.Operator, c.name, nil, conditions...)
}
