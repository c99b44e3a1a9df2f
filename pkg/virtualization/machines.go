package virtualization

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

const machinesName = "CephVirtualMachines"

// MachinesConfig is all that the controller uses that looks for mistakes.
type MachinesConfig struct {
	Config
	// Held is the storageClassState that the driver's default StorageClass cannot follow, because
	// disk images use it; empty if it does.
	Held *ctrl.Latest[operatorv1.StorageClassStateName]
}

// MachinesController looks for mistakes.
type MachinesController struct {
	factory.Controller
	MachinesConfig
	// Matrix is what virtual machines can do on which StorageClass; empty without CDI.
	Matrix ctrl.Latest[Machines]
	// warn writes an event about what is to be mended. It is called once for each mistake.
	warn func(ctx context.Context, m Mistake) error
	// told are mistakes of which there is an event; only one worker runs sync.
	told map[Mistake]bool
}

// NewMachines returns the controller that looks for what keeps disks of virtual machines from
// working, and changes nothing. It says MachinesUsable: False, with the reason of the
// first mistake and the messages of all; without CDI and Harvester it is absent.
func NewMachines(config MachinesConfig) *MachinesController {
	c := &MachinesController{MachinesConfig: config, told: map[Mistake]bool{}}
	c.warn = func(ctx context.Context, m Mistake) error {
		about := corev1.ObjectReference{APIVersion: m.APIVersion, Kind: m.Kind, Name: m.Name, UID: m.UID}
		return c.Warn(ctx, about, m.Reason, m.Message, 0)
	}
	c.Controller = config.controller(machinesName, c.sync, c.CSIDrivers.Informer(), c.Held)
	return c
}

func (c *MachinesController) sync(ctx context.Context, _ factory.SyncContext) error {
	v := c.voice(machinesName, condition.MachinesUsable)
	importing, why := c.Watches.all(storageProfiles, snapshotClasses, importers)
	harvesting, _ := c.Watches.all(driverConfig, snapshotClasses)
	if importing == absent {
		c.Matrix.Clear()
	}
	switch {
	case importing == absent && harvesting == absent:
		clear(c.told)
		return v.silent(ctx)
	case importing == loading && why != nil:
		return v.bad(ctx, condition.SyncError, why.Error())
	case importing == loading, harvesting == loading:
		return nil
	}
	facts, err := c.gather()
	if err != nil {
		return err
	}
	if importing == ready {
		c.Matrix.Set(matrix(facts))
	}
	found := mistakes(facts)
	if len(found) == 0 {
		clear(c.told)
		return v.good(ctx)
	}
	var messages []string
	for _, m := range found {
		messages = append(messages, m.Message)
	}
	err = v.bad(ctx, found[0].Reason, strings.Join(messages, "; "))
	return errors.Join(err, c.tell(ctx, found))
}

// tell writes an event for each mistake that is new.
func (c *MachinesController) tell(ctx context.Context, found []Mistake) error {
	still := map[Mistake]bool{}
	var errs []error
	for _, m := range found {
		still[m] = c.told[m]
		if still[m] {
			continue
		}
		err := c.warn(ctx, m)
		still[m] = err == nil
		errs = append(errs, err)
	}
	c.told = still
	return errors.Join(errs...)
}

func (c *MachinesController) gather() (machineFacts, error) {
	_, snapshotting := c.Watches.resource(snapshotClasses)
	facts := machineFacts{
		driver:       c.Driver,
		profiles:     c.Watches.list(storageProfiles),
		snapshots:    readSnapshotClasses(c.Watches, c.Driver),
		snapshotting: snapshotting,
		importers:    c.Watches.list(importers),
		config:       c.Watches.get(driverConfig, driverConfig.name),
		harvester:    len(c.Served(harvesterSettings)) > 0,
	}
	if facts.held, _ = c.Held.Get(); facts.held != "" {
		facts.images = c.Watches.ImagesOn(c.Driver.StorageClass)
	}
	var err error
	if facts.classes, err = c.StorageClasses.Lister().List(labels.Everything()); err != nil {
		return facts, fmt.Errorf("listing StorageClasses: %w", err)
	}
	slices.SortFunc(facts.classes, func(a, b *storagev1.StorageClass) int { return cmp.Compare(a.Name, b.Name) })
	drivers, err := c.CSIDrivers.Lister().List(labels.Everything())
	if err != nil {
		return facts, fmt.Errorf("listing CSIDrivers: %w", err)
	}
	for _, d := range drivers {
		facts.csiDrivers = append(facts.csiDrivers, d.Name)
	}
	return facts, nil
}
