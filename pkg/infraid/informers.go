// Package infraid keeps who this cluster is to Ceph. Its volumes, users and pools carry the infra
// ID, which is status.infrastructureName of Infrastructure cluster when they are first made. Where that
// resource says something else later, because somebody has edited or restored it, the remembered infra
// ID goes on: with another one, the operator would make other users, tag volumes as another cluster's,
// and a teardown would find none of the old ones.
package infraid

import (
	"errors"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/client-go/config/informers/externalversions/config"
	informersv1 "github.com/openshift/client-go/config/informers/externalversions/config/v1"
	listersv1 "github.com/openshift/client-go/config/listers/config/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// name is that of the singleton Infrastructure.
const name = "cluster"

// Memory is where the infra ID is remembered.
type Memory struct {
	Load func() (state.InfraID, bool, error)
	// Synced says that Load sees what is remembered.
	Synced func() bool
}

// Remember returns informers of which Infrastructure cluster has the remembered infra ID, once there
// is one. Until that can be told, its informer is not synced.
func Remember(said externalversions.SharedInformerFactory, m Memory) externalversions.SharedInformerFactory {
	return remembering{said, m}
}

type remembering struct {
	externalversions.SharedInformerFactory
	memory Memory
}

func (f remembering) Config() config.Interface {
	return group{f.SharedInformerFactory.Config(), f.memory}
}

type group struct {
	config.Interface
	memory Memory
}

func (g group) V1() informersv1.Interface { return version{g.Interface.V1(), g.memory} }

type version struct {
	informersv1.Interface
	memory Memory
}

func (v version) Infrastructures() informersv1.InfrastructureInformer {
	return infrastructures{v.Interface.Infrastructures(), v.memory}
}

type infrastructures struct {
	informersv1.InfrastructureInformer
	memory Memory
}

func (i infrastructures) Informer() cache.SharedIndexInformer {
	return &informer{i.InfrastructureInformer.Informer(), i.memory}
}

func (i infrastructures) Lister() listersv1.InfrastructureLister {
	return lister{i.InfrastructureInformer.Lister(), i.memory}
}

type informer struct {
	cache.SharedIndexInformer
	memory Memory
}

func (i *informer) HasSynced() bool { return i.SharedIndexInformer.HasSynced() && i.memory.Synced() }

type lister struct {
	listersv1.InfrastructureLister
	memory Memory
}

var errNotRead = errors.New("what is remembered has not been read yet")

func (l lister) Get(object string) (*configv1.Infrastructure, error) {
	infrastructure, err := l.InfrastructureLister.Get(object)
	if err != nil || object != name {
		return infrastructure, err
	}
	if !l.memory.Synced() {
		return nil, fmt.Errorf("the infra ID: %w", errNotRead)
	}
	remembered, found, err := l.memory.Load()
	if err != nil {
		return nil, err
	}
	if !found || remembered.ID == "" || remembered.ID == infrastructure.Status.InfrastructureName {
		return infrastructure, nil
	}
	out := infrastructure.DeepCopy()
	out.Status.InfrastructureName = remembered.ID
	return out, nil
}
