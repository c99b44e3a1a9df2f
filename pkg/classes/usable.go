package classes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	usableName = "CephStorageClasses"
	resync     = 20 * time.Minute
	// settling is how long after the start what is wrong with classes may not be known yet.
	settling = time.Minute
)

// UsableConfig is all that the controller of StorageClassesUsable uses.
type UsableConfig struct {
	*StorageClass
	// Open says that the driver is to be deployed; otherwise there is no class of ours.
	Open func() bool
	// Problems is what keeps StorageClasses from working, in sorted sentences. While neither
	// that is known nor the driver is to be deployed, nothing is written; a class is not called
	// usable before settling has passed without.
	Problems *ctrl.Latest[[]string]
	// Cluster is the Ceph cluster in use, Clusters are all that the operator is connected to.
	Cluster  *ctrl.Latest[ceph.Cluster]
	Clusters *ctrl.Latest[[]ceph.Cluster]
	// Triggers wake the controller when Open may have changed.
	Triggers []factory.Informer
}

// NewUsable returns the controller that writes StorageClassesUsable: False, reason
// ForeignClass, while the class of our name is somebody else's, PlaceMissing, while a class
// names what the Ceph cluster does not have, Forbidden, while one names a Secret that the driver's controllers
// may not read, or MessengerProtocol, while the mons do not speak what nodes do.
func NewUsable(config UsableConfig) factory.Controller {
	c := &usability{UsableConfig: config, started: config.Clock.Now(), access: newAccess(config.Env)}
	return config.Factory(usableName, c.sync).
		ResyncEvery(resync).
		WithInformers(config.StorageClasses.Informer(), ctrl.Where(config.PersistentVolumes.Informer(), c.matters), config.Problems, config.Cluster, config.Clusters).
		WithInformers(config.Triggers...).
		ToController(usableName, config.Recorder)
}

type usability struct {
	UsableConfig
	started time.Time
	access  *access
}

func (c *usability) sync(ctx context.Context, syncCtx factory.SyncContext, _ operatorv1.ManagementState) error {
	problems, known := c.Problems.Get()
	open := c.Open()
	if !open && !known {
		return nil
	}
	existing, err := c.existing()
	if err != nil {
		return err
	}
	all, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing StorageClasses: %w", err)
	}
	volumes, err := c.volumes()
	if err != nil {
		return err
	}
	uses := c.secretUses(all, volumes)
	if !open {
		existing, all, volumes, uses = nil, nil, nil, nil
	}
	settings, unread := c.Settings()
	if unread != nil {
		all, volumes = nil, nil
	}
	clusters, _ := c.Clusters.Get()
	inUse, _ := c.Cluster.Get()
	forbidden, unknown := c.access.forbidden(ctx, syncCtx.Queue(), uses)
	said := usable(condition.ClassesUsable,
		trouble{condition.ForeignClass, foreign(existing, c.Driver)},
		trouble{condition.PlaceMissing, problems},
		trouble{condition.Forbidden, forbidden},
		trouble{condition.MessengerProtocol, append(unspoken(c.Driver, all, settings, clusters), unheard(c.Driver, all, volumes, settings, inUse)...)},
	)
	if (unknown != nil || unread != nil) && *said.Status == operatorv1.ConditionTrue {
		return unknown // Of settings that cannot be read, pkg/settings tells.
	}
	if wait := settling - c.Clock.Since(c.started); !known && *said.Status == operatorv1.ConditionTrue && wait > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	return errors.Join(condition.Say(ctx, c.Operator, usableName, nil, said), unknown)
}

// secretUses are those of all StorageClasses and volumes of the driver.
func (c *usability) secretUses(all []*storagev1.StorageClass, volumes []*corev1.PersistentVolume) secretUses {
	uses := secretUses{}
	for _, class := range all {
		if class.Provisioner == c.Driver.Name {
			uses.add("StorageClass "+class.Name, class.Parameters)
		}
	}
	for _, volume := range volumes {
		uses.addVolume(volume)
	}
	return uses
}

// volumes are the driver's.
func (c *usability) volumes() ([]*corev1.PersistentVolume, error) {
	all, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	return slices.DeleteFunc(all, func(volume *corev1.PersistentVolume) bool { return !c.Driver.Serves(volume) }), nil
}

// matters says of what an event carries that it is a volume that names Secrets of other namespaces, or may be unheard: there
// are few.
func (c *usability) matters(object any) bool {
	volume, ok := ctrl.Object(object).(*corev1.PersistentVolume)
	if !ok || !c.Driver.Serves(volume) {
		return false
	}
	uses := secretUses{}
	uses.addVolume(volume)
	return len(uses) > 0 || !c.Driver.PicksMons && c.Driver.SpeaksMsgr2(volume.Spec.CSI.VolumeAttributes, driver.Settings{})
}

// trouble is what keeps classes from working, in sorted sentences.
type trouble struct {
	reason string
	texts  []string
}

// usable decides: the reason is that of the first text.
func usable(kind string, troubles ...trouble) *condition.Said {
	reason, texts := condition.AsExpected, []string(nil)
	for _, t := range troubles {
		if len(texts) == 0 && len(t.texts) > 0 {
			reason = t.reason
		}
		texts = append(texts, t.texts...)
	}
	if len(texts) == 0 {
		return condition.New(kind, operatorv1.ConditionTrue, reason, "")
	}
	return condition.New(kind, operatorv1.ConditionFalse, reason, strings.Join(texts, "; "))
}

func foreign(existing *storagev1.StorageClass, d driver.Driver) []string {
	if existing == nil || !d.Foreign(existing) {
		return nil
	}
	return []string{driver.LeftAlone("StorageClass", existing, existing.Provisioner)}
}
