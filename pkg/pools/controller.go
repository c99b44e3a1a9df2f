// Package pools finds the place of the default StorageClass's volumes, and makes it where it
// is the operator's to make: its own pool, its subvolume group.
package pools

import (
	"context"
	"errors"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	controllerName = "CephPools"
	// interval is how often Ceph is asked the same again; the condition writes of a start wake
	// the controller much more often.
	interval    = time.Minute
	repeatAfter = 50 * time.Second
	// soonAgain is how often Ceph is asked for a filesystem, without which a driver waits, and whether what was
	// wrong is mended.
	soonAgain = 10 * time.Second
	// retryOutage is how soon after an outage, which pkg/connection reports.
	retryOutage = 10 * time.Second
	// doubtAgain is how soon what may pass by itself is asked again, and doubt how long it must
	// have lasted to be a condition: a standby MDS needs seconds to take over, the mgr sees a
	// new filesystem a moment after the mons, and loads its modules after it has become active.
	doubtAgain = 5 * time.Second
	doubt      = 15 * time.Second
	// deadline bounds one sync: an osd write takes a second, a first group command some.
	deadline = 45 * time.Second
)

// Ceph is what the controller uses of a Ceph cluster.
type Ceph interface {
	driver.Ceph
	Marker
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
}

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	// Client returns the live connection to a Ceph cluster; false while there is none.
	Client  func(fsid string) (Ceph, bool)
	Cluster *ctrl.Latest[ceph.Cluster]
	// Record remembers the last choice across restarts.
	Record state.Store[state.Placement]
	// ConfigJSON reads what ceph-csi's config.json has by now, past the cache.
	ConfigJSON func(ctx context.Context) ([]ceph.ConfigEntry, error)
	// Held says, past the caches, whether the driver has volumes or snapshots.
	Held func(ctx context.Context) (bool, error)
	// Minted says whether the driver works with users that the operator has made.
	Minted *ctrl.Latest[bool]
	// Open says that the driver is to be deployed. While it is not, Ceph is asked only
	// whether it has a filesystem, if the driver needs one.
	// Closed says that it is not, which takes longer to know than that it is not known to be.
	Open, Closed func() bool
	// Filesystem is set to whether Ceph has one.
	Filesystem *ctrl.Latest[bool]
	// Triggers wake the controller when Open may have changed.
	Triggers []factory.Informer
}

// question is what Ceph is asked. The same one is not put again before a time has passed.
type question struct {
	wish driver.Wish
	// home is what that of the wish is known by.
	home origin
	open bool
	// group is that of the settings, if the place is to stay in another; unseen is why nobody knows whether it has to.
	group, unseen string
	// infraID and claim are for the claim of the place.
	infraID string
	claim   wishes
}

// Controller finds the place of the default StorageClass.
type Controller struct {
	factory.Controller
	Config
	// Placement is the place in use; it survives outages and restarts.
	Placement ctrl.Latest[ceph.Placement]

	session session
	asked   question
	askedAt time.Time
	// again is how long the same question is not put again.
	again time.Duration
	// doubted is since when Ceph gives answers that may pass by themselves.
	doubted time.Time
}

// New returns the controller that writes CephPoolsDegraded with reasons NoPool, NoFilesystem,
// NoActiveMDS, AccessDenied, CephUnreachable (of the mgr alone), InvalidSettings and SyncError.
func New(config Config) *Controller {
	c := &Controller{Config: config}
	c.session.recorder, c.session.clock = config.Recorder, config.Clock
	c.Controller = c.Factory(controllerName, c.sync).
		ResyncEvery(interval).
		WithInformers(c.Cluster, c.Minted, c.Infrastructures.Informer()).
		WithInformers(c.Remembered()). // Without the record in the cache, an earlier choice would be made anew.
		WithInformers(c.Triggers...).
		WithFilteredEventsInformers(ctrl.Named(c.Driver.StorageClass), c.StorageClasses.Informer()).
		WithBareInformers(c.PersistentVolumes.Informer()).
		ToController(controllerName, c.Recorder)
	return c
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	open := c.Open()
	if !open && !c.Driver.NeedsFilesystem {
		return c.idle(ctx)
	}
	in, err := c.gather(ctx, open)
	c.keep(in)
	if open && state != operatorv1.Managed {
		c.asked = question{}
		return c.report(ctx, nil) // Nothing is wanted of Ceph: what was wrong before counts no more.
	}
	if err != nil {
		c.asked = question{} // The condition does not hold Ceph's answer any more.
		return c.report(ctx, err)
	}
	client, connected := c.Client(in.fsid)
	if !connected || state != operatorv1.Managed {
		return c.idle(ctx)
	}
	if c.session.use(client) {
		c.asked = question{}
	}
	_, by := homeOf(c.Driver, in)
	if open && by == waiting {
		return nil
	}
	asking := question{wish: wish(c.Driver, in), home: by, open: open, infraID: in.infraID, claim: in.claim()}
	if in.held {
		asking.group = in.settings.SubvolumeGroup
		if in.unseen != nil {
			asking.unseen = in.unseen.Error()
		}
	}
	if wait := c.again - c.Clock.Since(c.askedAt); asking == c.asked && wait > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	err = c.ask(ctx, asking)
	if ceph.NoAnswer(err) {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, retryOutage)
		return nil
	}
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return err
	}
	if c.doubts(err) {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, doubtAgain)
		return nil
	}
	c.asked, c.askedAt, c.again = asking, c.Clock.Now(), repeatAfter
	if !open || err != nil {
		c.again = soonAgain
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, c.again)
	return c.report(ctx, err)
}

// idle is when Ceph is not asked. A driver that is not deployed needs no place: what was wrong with it before counts
// no more.
func (c *Controller) idle(ctx context.Context) error {
	if !c.Closed() {
		return nil
	}
	c.asked = question{}
	return c.report(ctx, nil)
}

// doubts says that err may pass by itself, and has not lasted yet.
func (c *Controller) doubts(err error) bool {
	mayPass := func(target error) bool { return errors.Is(err, target) }
	if !slices.ContainsFunc([]error{ceph.ErrNoActiveMDS, ceph.ErrNotFound, ceph.ErrNotLoaded, driver.ErrNoManager}, mayPass) {
		c.doubted = time.Time{}
		return false
	}
	if c.doubted.IsZero() {
		c.doubted = c.Clock.Now()
	}
	return c.Clock.Since(c.doubted) < doubt
}

// keep publishes what is known without Ceph, so that a class stays as it is after a restart.
func (c *Controller) keep(in input) {
	if _, published := c.Placement.Get(); published {
		return
	}
	if place, found := known(c.Driver, in); found {
		c.Placement.Set(place)
	}
}

// ask puts the question to Ceph and publishes the answer; the record comes first, so that a
// crash in between forgets nothing.
func (c *Controller) ask(ctx context.Context, q question) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if !q.open {
		return c.survey(ctx)
	}
	wish, err := c.settle(ctx, q)
	if err != nil {
		return err
	}
	place, err := c.Driver.Storage.Place(ctx, &c.session, wish)
	if err != nil {
		c.session.forget()
		return err
	}
	if before, _ := c.Placement.Get(); before != place {
		if err := c.claim(ctx, q, place); ceph.NoAnswer(err) {
			return err
		}
	}
	if err := c.Record.Save(ctx, state.Placement(place)); err != nil {
		return err
	}
	c.Placement.Set(place)
	if q.group != "" {
		return stays(q, place)
	}
	return nil
}

// claim comes before anybody may use the place: users have their rights by it. The controller of
// pools in use tells of refusals, and writes what is missing.
func (c *Controller) claim(ctx context.Context, q question, place ceph.Placement) error {
	var has driver.Inventory
	var err error
	if has.Pools, err = c.session.Pools(ctx); err != nil {
		return err
	}
	if place.Filesystem != "" {
		if has.FileSystems, err = c.session.FileSystems(ctx); err != nil {
			return err
		}
	}
	ids := c.Driver.Storage.Holding(has, place, nil)
	return claimAll(ctx, &c.session, has.Pools, ids, user{q.infraID, c.Driver.Kind}, q.claim)
}

// survey tells the gate whether deploying the driver makes sense. To a user who may not list
// filesystems there are none: ceph-csi lists them as well.
func (c *Controller) survey(ctx context.Context) error {
	filesystems, err := c.session.FileSystems(ctx)
	if err != nil && !errors.Is(err, ceph.ErrDenied) {
		return err
	}
	c.Filesystem.Set(len(filesystems) > 0)
	return nil
}

func (c *Controller) report(ctx context.Context, problem error) error {
	return condition.Say(ctx, c.Operator, controllerName, nil, describe(problem))
}
