package classes

import (
	"context"
	"errors"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const snapshotsName = "CephSnapshotClasses"

// SnapshotsConfig is all that the controller of the snapshot classes uses.
type SnapshotsConfig struct {
	ctrl.Env
	// Manifests are the assets: a VolumeSnapshotClass, a VolumeGroupSnapshotClass or both.
	Manifests [][]byte
	// Placement is where volumes go; empty until pkg/pools knows.
	Placement *ctrl.Latest[ceph.Placement]
	// Cluster is the Ceph cluster that the classes are of.
	Cluster *ctrl.Latest[ceph.Cluster]
	// GroupSnapshots says whether the controllers of the driver take snapshots of groups, which not every version of
	// their CRDs lets them.
	GroupSnapshots func() bool
	// Open says that the driver is to be deployed; otherwise nothing is done.
	Open func() bool
	// Record has what users gave a VolumeSnapshotClass, GroupRecord a VolumeGroupSnapshotClass, that is
	// being made anew.
	Record, GroupRecord state.Store[state.Class]
	// Triggers wake the controller when Open may have changed.
	Triggers []factory.Informer
}

type snapshots struct {
	SnapshotsConfig
	classes []snapshotClass
	// watches are by resource; only one worker runs sync.
	watches map[string]*watch
	access  *access
}

// NewSnapshots returns the controller that keeps the snapshot classes whose CRDs exist. It
// writes CephSnapshotClassesDegraded, and SnapshotClassesUsable: False, reason ForeignClass,
// while a class of our name is somebody else's, or Forbidden, while one of the driver names a Secret that its
// controllers may not read. It fails on a manifest of another kind.
func NewSnapshots(config SnapshotsConfig) (factory.Controller, error) {
	c := &snapshots{SnapshotsConfig: config, watches: map[string]*watch{}, access: newAccess(config.Env)}
	for _, manifest := range config.Manifests {
		class, err := readSnapshotClass(manifest)
		if err != nil {
			return nil, err
		}
		c.classes = append(c.classes, class)
	}
	return c.Factory(snapshotsName, c.sync).
		ResyncEvery(resync).
		WithInformers(c.Placement, c.Cluster, c.CRDs, c.ConfigMaps.Informer()).
		WithInformers(c.Triggers...).
		ToController(snapshotsName, c.Recorder), nil
}

func (c *snapshots) sync(ctx context.Context, syncCtx factory.SyncContext, managementState operatorv1.ManagementState) error {
	if !c.Open() {
		return c.withdrawn(ctx)
	}
	managed := managementState == operatorv1.Managed
	var foreign []string
	var problems []error
	for _, class := range c.classes {
		message, err := c.syncClass(ctx, syncCtx, class, managed)
		if message != "" {
			foreign = append(foreign, message)
		}
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			// Our copy is a moment old; nothing is wrong.
			return err
		}
		problems = append(problems, err)
	}
	problem := errors.Join(problems...)
	forbidden, unknown := c.access.forbidden(ctx, syncCtx.Queue(), c.secretUses())
	said := []*condition.Said{degraded(problem)}
	classes := usable(condition.SnapshotClassesUsable, trouble{condition.ForeignClass, foreign}, trouble{condition.Forbidden, forbidden})
	if unknown == nil || *classes.Status == operatorv1.ConditionFalse {
		said = append(said, classes)
	}
	return errors.Join(condition.Say(ctx, c.Operator, snapshotsName, nil, said...), problem, unknown)
}

// withdrawn says that nothing is wrong with classes of a driver that a person wants off: there are none. Volumes may hold
// the rest of it for months, and what was said before would stand.
func (c *snapshots) withdrawn(ctx context.Context) error {
	declared, err := c.RemovalDeclared()
	if err != nil || !declared {
		return err
	}
	return condition.Say(ctx, c.Operator, snapshotsName, []string{condition.SnapshotClassesDegraded, condition.SnapshotClassesUsable})
}

// secretUses are those of all snapshot classes of the driver.
func (c *snapshots) secretUses() secretUses {
	uses := secretUses{}
	for _, w := range c.watches {
		for _, class := range w.all() {
			if class.Object["driver"] == c.Driver.Name {
				parameters, _, _ := unstructured.NestedStringMap(class.Object, "parameters")
				uses.add(class.GetKind()+" "+class.GetName(), parameters)
			}
		}
	}
	return uses
}

// syncClass returns a message when the class is somebody else's.
func (c *snapshots) syncClass(ctx context.Context, syncCtx factory.SyncContext, class snapshotClass, managed bool) (string, error) {
	served := c.Served(class.resource.String())
	if len(served) == 0 {
		c.forget(class)
		return "", nil
	}
	w, err := c.watch(ctx, syncCtx, class, newest(served))
	if err != nil {
		return "", err
	}
	existing := w.get(c.Driver.SnapshotClass)
	if existing != nil && foreignSnapshotClass(existing, c.Driver) {
		owner, _, _ := unstructured.NestedString(existing.Object, "driver")
		return driver.LeftAlone(class.asset.GetKind(), existing, owner), nil
	}
	place, decided := c.Placement.Get()
	if !decided || !managed {
		return "", nil
	}
	wanted := class.wanted(c.Driver, place, w.resource.Version)
	record := c.record(class.asset.GetKind())
	last, _, err := record.Load()
	switch {
	case err != nil:
		return "", err
	case existing != nil:
		return "", c.update(ctx, w, existing, wanted, last)
	case last.Empty() && c.cannot(class):
		return "", nil
	}
	last, _, err = record.Read(ctx)
	if err != nil {
		return "", err
	}
	last.Give(wanted)
	return "", c.create(ctx, w, withoutSecondDefault(wanted, w.all()))
}

// cannot says that Ceph is too old for what the class is of, or that the controllers do not do it. One that is there, or is
// being made anew, is kept: it may be older than this rule, and Ceph and CRDs will be newer.
func (c *snapshots) cannot(class snapshotClass) bool {
	if class.asset.GetKind() != groupSnapshotClassKind {
		return false
	}
	cluster, known := c.Cluster.Get()
	return !c.GroupSnapshots() || known && c.Driver.QuiescesGroups && !ceph.Quiesces(cluster.Version)
}

// record is where a class of that kind is remembered.
func (c *snapshots) record(kind string) state.Store[state.Class] {
	if kind == groupSnapshotClassKind {
		return c.GroupRecord
	}
	return c.Record
}

func (c *snapshots) create(ctx context.Context, w *watch, wanted *unstructured.Unstructured) error {
	if _, err := c.Dynamic.Resource(w.resource).Create(ctx, wanted, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	c.Recorder.Eventf(wanted.GetKind()+"Created", "Created %s %s because it was missing", wanted.GetKind(), wanted.GetName())
	return nil
}

// update changes the class in place, or makes it anew: the fields of a VolumeGroupSnapshotClass
// are immutable, those of a VolumeSnapshotClass are not.
func (c *snapshots) update(ctx context.Context, w *watch, existing, wanted *unstructured.Unstructured, last state.Class) error {
	c.Remembering.Lock()
	defer c.Remembering.Unlock()
	kind, name := wanted.GetKind(), wanted.GetName()
	next, changed := merged(existing, wanted)
	client := c.Dynamic.Resource(w.resource)
	if !changed && !last.Empty() {
		// The cache may have a class that is gone.
		there, err := client.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
		if err != nil {
			return fmt.Errorf("reading %s %s: %w", kind, name, err)
		}
		if len(there.Items) == 0 {
			return nil
		}
		return c.record(kind).Save(ctx, state.Class{})
	}
	if !changed {
		return nil
	}
	_, err := client.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsInvalid(err) && kind == groupSnapshotClassKind {
		if err := c.GroupRecord.Save(ctx, state.ClassOf(existing)); err != nil {
			return err
		}
		precondition := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(existing.GetUID())}}
		if err := client.Delete(ctx, name, precondition); err != nil {
			return fmt.Errorf("deleting %s %s to change immutable fields: %w", kind, name, err)
		}
		_, err = client.Create(ctx, recreated(next), metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("updating %s %s: %w", kind, name, err)
	}
	c.Recorder.Eventf(kind+"Updated", "Updated %s %s because it changed", kind, name)
	return nil
}

// watch returns the informer of the kind in that version, which it starts when needed.
func (c *snapshots) watch(ctx context.Context, syncCtx factory.SyncContext, class snapshotClass, version string) (*watch, error) {
	resource := class.resource.WithVersion(version)
	w := c.watches[class.resource.Resource]
	if w != nil && w.resource == resource && !w.informer.IsStopped() {
		return w, nil
	}
	c.forget(class)
	queue := syncCtx.Queue()
	w, err := newWatch(ctx, c.Dynamic, resource, func() { queue.Add(factory.DefaultQueueKey) })
	if err != nil {
		return nil, err
	}
	c.watches[class.resource.Resource] = w
	return w, nil
}

func (c *snapshots) forget(class snapshotClass) {
	if w := c.watches[class.resource.Resource]; w != nil {
		w.stop()
		delete(c.watches, class.resource.Resource)
	}
}

func degraded(problem error) *condition.Said {
	if problem == nil {
		return condition.Good(condition.SnapshotClassesDegraded)
	}
	return condition.New(condition.SnapshotClassesDegraded, operatorv1.ConditionTrue, condition.SyncError, problem.Error())
}
