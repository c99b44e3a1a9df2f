package nodes

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestRegistrations(t *testing.T) {
	csiNodes := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Storage().V1().CSINodes()
	for name, drivers := range map[string][]string{"a": {"ebs.csi.aws.com", driver.RBD.Name}, "b": {driver.CephFS.Name}, "c": nil, "d": {driver.RBD.Name}} {
		csiNode := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": "long"}}}
		for _, d := range drivers {
			csiNode.Spec.Drivers = append(csiNode.Spec.Drivers, storagev1.CSINodeDriver{Name: d, NodeID: name, TopologyKeys: []string{"zone"}})
		}
		trimmed, err := TrimCSINode(driver.RBD)(csiNode)
		if err != nil || len(trimmed.(*storagev1.CSINode).Annotations) > 0 || len(trimmed.(*storagev1.CSINode).Spec.Drivers) > 1 {
			t.Errorf("%s is trimmed to %+v, %v", name, trimmed, err)
		}
		if err := csiNodes.Informer().GetStore().Add(trimmed); err != nil {
			t.Fatal(err)
		}
	}
	r := Registrations{Driver: driver.RBD, CSINodes: csiNodes.Lister()}
	if count, err := r.Count(); count != 2 || err != nil {
		t.Errorf("%d kubelets know the driver, %v", count, err)
	}
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "new": false} {
		if r.Has(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
