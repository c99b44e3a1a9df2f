package operator

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

func (s starter) removal() (factory.Controller, error) {
	objects, err := removal.ObjectsOf(s.driver, s.assets)
	if err != nil {
		return nil, err
	}
	objects.OptIn = s.optIns()
	for i, class := range objects.Classes {
		if class.Kind == "StorageClass" {
			objects.Classes[i].Mine = s.keepsClass
		}
	}
	holders := removal.Holders{Driver: s.driver, Kube: s.clients.kube, Dynamic: s.clients.dynamic}
	return removal.New(removal.Config{
		Driver:      s.driver,
		Operator:    s.clients.operator,
		Client:      s.clients.dynamic,
		Declared:    s.removalDeclared,
		Cached:      s.cachedHeld,
		Attachments: holders.Attachments,
		Look:        holders.Look,
		Deployed:    s.deployed,
		Served:      s.clients.served,
		Objects:     objects,
		Records:     s.classRecords(),
		TakeBack:    s.takeBack,
		State:       s.clients.removal,
		Triggers: []factory.Informer{
			s.clients.volumeCache(), s.classStateInformer(), s.stateInformer(), s.clients.crdInformer,
			s.clients.ns().Apps().V1().Deployments().Informer(), s.clients.ns().Apps().V1().DaemonSets().Informer(),
		},
		Clock:    clock.RealClock{},
		Recorder: s.recorder,
	}), nil
}

// optIns are what the operator makes of the settings imageProtection and kernelModules, and its rights on platforms for
// virtual machines, where takeBack has left nothing.
func (s starter) optIns() []removal.OptIn {
	bound := func(role string) removal.OptIn {
		return removal.OptIn{Binding: removal.Object{Kind: "ClusterRoleBinding", Name: role, Mine: s.driver.Owns}}
	}
	images, modules := bound(s.driver.ImagesRole()), bound(s.driver.ModulesRole())
	for _, o := range virtualization.Objects(s.driver) {
		object := removal.Object{Kind: o.Kind, Name: o.Name, Mine: s.driver.Owns}
		switch o.Kind {
		case "MachineConfig", "CloudInit":
			modules.Objects = append(modules.Objects, object)
		default:
			images.Objects = append(images.Objects, object)
		}
	}
	return []removal.OptIn{images, modules, bound(s.driver.MachinesRole())}
}

// removalDeclared says whether a person wants the driver off the cluster.
func (s starter) removalDeclared() (bool, error) {
	cr, err := s.clients.clusterCSIDrivers.Operator().V1().ClusterCSIDrivers().Lister().Get(s.driver.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading ClusterCSIDriver %s: %w", s.driver.Name, err)
	}
	return cr.Spec.ManagementState == operatorv1.Removed, nil
}

// removed says whether the driver is off the cluster, or on its way; not known before the first look.
func (s starter) removed() (removed, known bool, err error) {
	declared, err := s.removalDeclared()
	if err != nil || !declared {
		return false, err == nil, err
	}
	now, known := s.clients.removal.Get()
	return now == operatorv1.Removed, known, nil
}

// offers says whether the operator's own classes are to be there.
func (s starter) offers() bool {
	declared, err := s.removalDeclared()
	return err == nil && !declared && s.open()
}

// keepsClass says whether a StorageClass is the operator's to remove.
func (s starter) keepsClass(class metav1.Object) bool {
	wanted, err := s.classState()
	return err == nil && wanted != operatorv1.UnmanagedStorageClass && s.driver.Owns(class)
}

// classRecords are where the operator's own classes are remembered.
func (s starter) classRecords() map[string]removal.Record {
	client, lister := s.clients.kube.CoreV1(), s.clients.ns().Core().V1().ConfigMaps().Lister()
	named := func(kind, name string) string { return removal.Object{Kind: kind, Name: name}.String() }
	return map[string]removal.Record{
		named("StorageClass", s.driver.StorageClass):              state.Classes(client, lister, s.driver),
		named("StorageClass", s.driver.Virtualization.Class):      state.VirtualizationClasses(client, lister, s.driver),
		named("VolumeSnapshotClass", s.driver.SnapshotClass):      state.SnapshotClasses(client, lister, s.driver),
		named("VolumeGroupSnapshotClass", s.driver.SnapshotClass): state.GroupSnapshotClasses(client, lister, s.driver),
	}
}

func (s starter) deployed() (bool, error) {
	workloads := s.clients.ns().Apps().V1()
	_, err := workloads.Deployments().Lister().Deployments(driver.Namespace).Get(s.driver.ControllerName())
	if there, err := found(err, "Deployment", s.driver.ControllerName()); there || err != nil {
		return there, err
	}
	_, err = workloads.DaemonSets().Lister().DaemonSets(driver.Namespace).Get(s.driver.NodeName())
	return found(err, "DaemonSet", s.driver.NodeName())
}

// cachedHeld counts what of the driver is in the caches.
func (s starter) cachedHeld() (removal.Held, error) {
	var held removal.Held
	volumes, err := s.clients.volumes.Core().V1().PersistentVolumes().Lister().List(labels.Everything())
	if err != nil {
		return held, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	for _, v := range volumes {
		if s.driver.Serves(v) {
			held.Volumes++
		}
	}
	held.Snapshots = s.contents.Count() // Where they are not known, they are looked for past the cache.
	return held, nil
}

// takeBack takes back what the operator wrote into others' objects, and names it. Without the rights it has written
// nothing.
func (s starter) takeBack(ctx context.Context) ([]string, error) {
	held, err := s.rights().Held(ctx, s.driver, s.driver.MachinesRole())
	if err != nil || !held {
		return nil, err
	}
	traces, err := virtualization.Traces(ctx, s.clients.dynamic, s.driver)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range traces {
		out = append(out, t.What)
		if err := t.Remove(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// supported is the client of library-go's controller of the management state, for which Removed is
// either to be had from library-go or not at all.
type supported struct{ v1helpers.OperatorClient }

// GetOperatorState has no Removed.
func (c supported) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	spec, status, version, err := c.OperatorClient.GetOperatorState()
	if err == nil && spec.ManagementState == operatorv1.Removed {
		spec.ManagementState = operatorv1.Managed
	}
	return spec, status, version, err
}
