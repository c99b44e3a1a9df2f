package virtualization

import (
	"context"
	"fmt"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	savedstate "github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	classesName = "CephVirtualizationClass"
	// machinesCRD is the CRD by which KubeVirt is known.
	machinesCRD = "virtualmachines.kubevirt.io"
)

// ClassConfig is all that the controller of the StorageClass for virtual machines uses.
type ClassConfig struct {
	Config
	// Manifest is what the class has beyond the default one; empty for a driver without it.
	Manifest []byte
	// State is spec.storageClassState.
	State func() (operatorv1.StorageClassStateName, error)
	// Open says that the driver is deployed.
	Open func() bool
	// Record has what users gave the class while it is being made anew. It is forgotten once it is seen,
	// or the class that comes with KubeVirt another day would get it: its informer wakes the controller.
	Record savedstate.Store[savedstate.Class]
	// Triggers wake the controller when Open may have changed.
	Triggers []factory.Informer
}

type classController struct {
	ClassConfig
	asset *storagev1.StorageClass
}

// NewClass returns the controller that keeps a StorageClass for disks of virtual machines,
// beside the default one, while KubeVirt is there. It writes VirtualizationClassCurrent: False,
// reason ForeignClass, while a class of that name is somebody else's, StorageClassInUseByImages,
// AdmissionRefused or SyncError; otherwise it is absent. It fails on a manifest that is no StorageClass.
func NewClass(config ClassConfig) (factory.Controller, error) {
	c := classController{ClassConfig: config}
	if len(config.Manifest) > 0 {
		c.asset = &storagev1.StorageClass{}
		if err := yaml.UnmarshalStrict(config.Manifest, c.asset); err != nil {
			return nil, fmt.Errorf("parsing the StorageClass for virtual machines: %w", err)
		}
	}
	return c.Factory(classesName, c.sync).
		ResyncEvery(resync).
		WithInformers(c.StorageClasses.Informer(), c.ClusterCSIDrivers.Informer(), c.CRDs, c.Watches, c.ConfigMaps.Informer()).
		WithInformers(c.Triggers...).
		ToController(classesName, c.Recorder), nil
}

func (c classController) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	return ctrl.Retry(syncCtx.Queue(), c.keep(ctx, state))
}

func (c classController) keep(ctx context.Context, state operatorv1.ManagementState) error {
	if c.Watches.isUndecided() {
		return nil
	}
	v := c.voice(classesName, condition.VirtualizationClassCurrent)
	if c.asset == nil || state != operatorv1.Managed || !c.Open() || len(c.Served(machinesCRD)) == 0 {
		return v.silent(ctx)
	}
	facts, err := c.gather()
	if err != nil {
		return err
	}
	if facts.existing != nil && c.Driver.Foreign(facts.existing) {
		return v.bad(ctx, condition.ForeignClass, driver.LeftAlone("StorageClass", facts.existing, facts.existing.Provisioner))
	}
	if step, class := decideClass(facts); (step == replace || step == remove) && len(facts.images) > 0 {
		return v.bad(ctx, condition.StorageClassInUseByImages, "StorageClass "+class.Name+" "+usedBy(facts.images, facts.state))
	}
	err = c.act(ctx, facts)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		return err // Our copy is a moment old; nothing is wrong.
	case err != nil:
		return v.failed(ctx, reasonOf(err), err)
	}
	return v.silent(ctx)
}

func (c classController) gather() (classFacts, error) {
	facts := classFacts{driver: c.Driver, asset: c.asset}
	var err error
	if facts.state, err = c.State(); err != nil {
		return facts, err
	}
	all, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return facts, fmt.Errorf("listing StorageClasses: %w", err)
	}
	for _, class := range all {
		switch class.Name {
		case c.Driver.StorageClass:
			facts.base = class
		case c.asset.Name:
			facts.existing = class
		}
	}
	if facts.last, _, err = c.Record.Load(); err != nil {
		return facts, err
	}
	facts.images = c.Watches.ImagesOn(c.asset.Name)
	facts.taken = takenByAnother(c.asset.Name, all)
	facts.elsewhere = slices.ContainsFunc(all, func(class *storagev1.StorageClass) bool {
		return class.Provisioner != c.Driver.Name && class.Annotations[defaultForAll] == "true"
	})
	return facts, nil
}

func (c classController) act(ctx context.Context, facts classFacts) error {
	step, class := decideClass(facts)
	if step == nothing {
		return c.forget(ctx, facts)
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if step == create {
		var err error
		if facts.last, _, err = c.Record.Read(ctx); err != nil {
			return err
		}
		step, class = decideClass(facts)
	}
	client := c.Kube.StorageV1().StorageClasses()
	if step == replace {
		// What admission refuses must not cost users the class that there is. The usual answer is
		// that it exists.
		_, err := client.Create(ctx, class, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if reasonOf(err) == condition.AdmissionRefused {
			return fmt.Errorf("making StorageClass %s anew: %w", class.Name, err)
		}
		if err := c.Record.Save(ctx, savedstate.ClassOf(facts.existing)); err != nil {
			return err
		}
	}
	if step == remove || step == replace {
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(facts.existing.UID)}}
		if err := client.Delete(ctx, class.Name, options); err != nil {
			return fmt.Errorf("deleting StorageClass %s: %w", class.Name, err)
		}
	}
	var err error
	switch step {
	case create, replace:
		_, err = client.Create(ctx, class, metav1.CreateOptions{})
	case update:
		class.UID, class.ResourceVersion = facts.existing.UID, facts.existing.ResourceVersion
		_, err = client.Update(ctx, class, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing StorageClass %s: %w", class.Name, err)
	}
	c.Recorder.Eventf("VirtualizationClassChanged", "StorageClass %s was %s", class.Name, done[step])
	return nil
}

// forget what a predecessor had, once the class is as wanted.
func (c classController) forget(ctx context.Context, facts classFacts) error {
	if facts.existing == nil || facts.last.Empty() {
		return nil
	}
	c.Remembering.Lock()
	defer c.Remembering.Unlock()
	// The cache may have a class that is gone.
	_, err := c.Kube.StorageV1().StorageClasses().Get(ctx, facts.existing.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading StorageClass %s: %w", facts.existing.Name, err)
	}
	return c.Record.Save(ctx, savedstate.Class{})
}

// done are the steps, for a message.
var done = map[step]string{create: "created", update: "updated", replace: "created anew", remove: "removed"}
