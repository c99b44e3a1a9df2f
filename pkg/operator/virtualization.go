package operator

import (
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

func (s starter) virtualizationGate() factory.Controller {
	return virtualization.NewGate(virtualization.GateConfig{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client:   s.clients.dynamic,
		Served:   s.clients.served,
		Open:     s.open,
		Watches:  s.machines,
		Triggers: []factory.Informer{s.gate, s.clients.crdInformer()},
		Recorder: s.recorder,
	})
}

func (s starter) storageProfiles() factory.Controller {
	return virtualization.NewProfiles(virtualization.ProfilesConfig{
		Driver:         s.driver,
		Operator:       s.clients.operator,
		Client:         s.clients.dynamic,
		StorageClasses: s.clients.cluster().Storage().V1().StorageClasses(),
		Watches:        s.machines,
		Served:         s.clients.served,
		Recorder:       s.recorder,
	})
}
