package uninstall

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestServedVersions removes classes whose CRD is of another release of external-snapshotter than
// the one that the operator was written with.
func TestServedVersions(t *testing.T) {
	for _, versions := range [][]string{{"v1beta1"}, {"v1beta2"}, {"v1"}, {"v1", "v1beta1"}} {
		t.Run(strings.Join(versions, " "), func(t *testing.T) {
			o, _, out := cluster(t)
			group := resources["VolumeGroupSnapshotClass"].GroupResource()
			kube := kubefake.NewClientset()
			for _, v := range versions {
				kube.Resources = append(kube.Resources, &metav1.APIResourceList{
					GroupVersion: group.WithVersion(v).GroupVersion().String(), APIResources: []metav1.APIResource{{Name: group.Resource}},
				})
			}
			class := existing("VolumeGroupSnapshotClass", "", driver.RBD.SnapshotClass, map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()})
			class.SetAPIVersion(group.WithVersion(versions[0]).GroupVersion().String())
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{
					resources["Lease"]: "LeaseList", ctrl.CRDs: "CustomResourceDefinitionList", resources["StorageClass"]: "StorageClassList",
					{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "storageprofiles"}: "StorageProfileList",
					machineImages: "VirtualMachineImageList",
				}, class)
			o.Kube, o.Dynamic = kube, client
			if err := Run(t.Context(), o); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, err := client.Resource(group.WithVersion(versions[0])).Get(t.Context(), class.GetName(), metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				t.Errorf("the class is still there: %v\n%s", err, out)
			}
		})
	}
}
