package nodes

import (
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Registrations are the kubelets that know a driver: a CSINode has what its node's kubelet knows, and a
// node pod may be ready without that, where the kubelet has refused its socket or lost it.
type Registrations struct {
	Driver   driver.Driver
	CSINodes storagelisters.CSINodeLister
}

// Has says whether the kubelet of a node knows the driver.
func (r Registrations) Has(node string) bool {
	csiNode, err := r.CSINodes.Get(node)
	return err == nil && r.has(csiNode)
}

// Count is how many kubelets do.
func (r Registrations) Count() (count int, err error) {
	all, err := r.CSINodes.List(labels.Everything())
	if err != nil {
		return 0, fmt.Errorf("reading CSINodes: %w", err)
	}
	for _, csiNode := range all {
		if r.has(csiNode) {
			count++
		}
	}
	return count, nil
}

func (r Registrations) has(csiNode *storagev1.CSINode) bool {
	return slices.ContainsFunc(csiNode.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == r.Driver.Name })
}

// TrimCSINode keeps of a CSINode whether the driver is there: a cluster has one for each node.
func TrimCSINode(d driver.Driver) func(any) (any, error) {
	return func(object any) (any, error) {
		csiNode, ok := object.(*storagev1.CSINode)
		if !ok {
			return object, nil
		}
		out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: csiNode.Name, UID: csiNode.UID, ResourceVersion: csiNode.ResourceVersion}}
		if (Registrations{Driver: d}).has(csiNode) {
			out.Spec.Drivers = []storagev1.CSINodeDriver{{Name: d.Name}}
		}
		return out, nil
	}
}
