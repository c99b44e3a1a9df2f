package controllertest

import (
	"sync/atomic"

	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions/operator/v1"
	"k8s.io/client-go/tools/cache"
)

// Declarations are an informer of ClusterCSIDrivers that tells nothing but whether they were read.
type Declarations struct {
	operatorinformers.ClusterCSIDriverInformer
	cache.SharedIndexInformer
	Read atomic.Bool
}

func (d *Declarations) Informer() cache.SharedIndexInformer { return d }

func (d *Declarations) HasSynced() bool { return d.Read.Load() }

func (d *Declarations) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil
}
