package operator

import (
	"context"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

func (s starter) virtualizationGate() factory.Controller {
	return virtualization.NewGate(virtualization.GateConfig{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client:   s.clients.dynamic,
		Served:   s.clients.served,
		Open:     s.open,
		Closed:   s.closed,
		Watches:  s.machines,
		Rights:   s.rights(),
		Clock:    clock.RealClock{},
		Triggers: []factory.Informer{s.gate, s.clients.crdInformer},
		Recorder: s.recorder,
	})
}

func (s starter) machinesConfig() virtualization.Config {
	return virtualization.Config{
		Driver:         s.driver,
		Operator:       s.clients.operator,
		Client:         s.clients.dynamic,
		StorageClasses: s.clients.cluster().Storage().V1().StorageClasses(),
		Watches:        s.machines,
		Served:         s.clients.served,
		Rights:         s.rights(),
		Recorder:       s.recorder,
	}
}

func (s starter) rights() virtualization.Rights {
	return virtualization.Rights{Client: s.clients.kube.RbacV1(), Bindings: s.clients.cluster().Rbac().V1().ClusterRoleBindings(), Recorder: s.recorder}
}

func (s starter) storageProfiles() factory.Controller {
	return virtualization.NewProfiles(s.machinesConfig())
}

func (s starter) virtualizationClass() (factory.Controller, error) {
	var manifest []byte
	if s.assets.Has(assets.VirtualizationClass) {
		var err error
		if manifest, err = s.assets.Asset(assets.VirtualizationClass); err != nil {
			return nil, err
		}
	}
	configMaps := s.clients.ns().Core().V1().ConfigMaps()
	return virtualization.NewClass(virtualization.ClassConfig{
		Driver:         s.driver,
		Operator:       s.clients.operator,
		Client:         s.clients.kube.StorageV1(),
		StorageClasses: s.clients.cluster().Storage().V1().StorageClasses(),
		Manifest:       manifest,
		State:          s.classState,
		Watches:        s.machines,
		Served:         s.clients.served,
		Open:           s.offers,
		Record:         state.VirtualizationClasses(s.clients.kube.CoreV1(), configMaps.Lister(), s.driver),
		Triggers:       []factory.Informer{s.gate, s.clients.crdInformer, s.classStateInformer(), s.machines, configMaps.Informer()},
		Recorder:       s.recorder,
	})
}

func (s starter) harvesterSettings() factory.Controller {
	return virtualization.NewSettings(s.machinesConfig())
}

func (s starter) harvesterClasses() factory.Controller {
	return virtualization.NewAnnotations(s.machinesConfig())
}

func (s starter) virtualMachines() factory.Controller {
	return virtualization.NewMachines(virtualization.MachinesConfig{
		Config:     s.machinesConfig(),
		CSIDrivers: s.clients.cluster().Storage().V1().CSIDrivers(),
		Matrix:     s.reports.machines,
		Held:       s.heldClass,
		Tell: func(ctx context.Context, m virtualization.Mistake) error {
			about := corev1.ObjectReference{APIVersion: m.APIVersion, Kind: m.Kind, Name: m.Name, UID: m.UID}
			return s.warn(ctx, about, m.Reason, m.Message, 0)
		},
	})
}

func (s starter) imageProtection() factory.Controller {
	return virtualization.NewImageProtection(s.machinesConfig(), s.settings, s.clients.crdInformer)
}

func (s starter) kernelModules() factory.Controller {
	return virtualization.NewKernelModules(s.machinesConfig(), s.settings, s.clients.crdInformer)
}
