package uninstall

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func existing(kind, namespace, name string, labels map[string]string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(resources[kind].GroupVersion().WithKind(kind))
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetUID("1")
	out.SetLabels(labels)
	return out
}

// leaseOfOther is of a sidecar of another driver, whose name ends like ours.
const leaseOfOther = "external-attacher-leader-openshift-storage-rbd-csi-ceph-com"

// cluster has an operator, its StorageClass, and a snapshot class of somebody else.
func cluster(t *testing.T) (Options, *dynamicfake.FakeDynamicClient, *bytes.Buffer) {
	t.Helper()
	o := testOptions(t)
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{
			resources["Lease"]: "LeaseList", ctrl.CRDs: "CustomResourceDefinitionList", resources["StorageClass"]: "StorageClassList",
			{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "storageprofiles"}: "StorageProfileList",
			machineImages: "VirtualMachineImageList",
		},
		existing("Deployment", driver.Namespace, driver.RBD.OperatorName(), nil),
		existing("StorageClass", "", driver.RBD.StorageClass, map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}),
		existing("VolumeSnapshotClass", "", driver.RBD.SnapshotClass, nil),
		existing("MachineConfig", "", "99-worker-ceph-rbd-csi-modules", map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}),
		existing("CloudInit", "", "ceph-rbd-csi-modules", nil),
		existing("ValidatingAdmissionPolicy", "", "ceph-rbd-csi-images-datasources", map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}),
		setting(),
		existing("Lease", driver.Namespace, "external-attacher-leader-rbd-csi-ceph-com", nil),
		existing("Lease", driver.Namespace, leaseOfOther, nil),
	)
	out := &bytes.Buffer{}
	o.Kube, o.Dynamic, o.Out = kubefake.NewClientset(), client, out
	o.Confirm = func() (bool, error) { return true, nil }
	return o, client, out
}

// setting is Harvester's, with an entry of the operator.
func setting() *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"value": `{"driver.longhorn.io":true,"rbd.csi.ceph.com":true}`}}
	out.SetGroupVersionKind(schema.GroupVersionKind{Group: "harvesterhci.io", Version: "v1beta1", Kind: "Setting"})
	out.SetName("csi-online-expand-validation")
	out.SetAnnotations(map[string]string{"storage.openshift.io/applied-rbd.csi.ceph.com": "true"})
	return out
}

func TestRunTakesBackTraces(t *testing.T) {
	o, client, out := cluster(t)
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	settings := schema.GroupVersionResource{Group: "harvesterhci.io", Version: "v1beta1", Resource: "settings"}
	after, err := client.Resource(settings).Get(t.Context(), setting().GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if value := after.Object["value"]; value != `{"driver.longhorn.io":true}` || len(after.GetAnnotations()) > 0 {
		t.Errorf("left %v, %v", value, after.GetAnnotations())
	}
	if !strings.Contains(out.String(), "  the entry of rbd.csi.ceph.com in Setting csi-online-expand-validation\n") {
		t.Errorf("not announced:\n%s", out)
	}
}

func left(t *testing.T, client *dynamicfake.FakeDynamicClient, kind, namespace, name string) bool {
	t.Helper()
	_, err := client.Resource(resources[kind]).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestRunRemovesWhatIsOurs(t *testing.T) {
	o, client, out := cluster(t)
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, gone := range []target{
		here("Deployment", driver.RBD.OperatorName()), wide("StorageClass", driver.RBD.StorageClass), here("Lease", "external-attacher-leader-rbd-csi-ceph-com"),
		wide("MachineConfig", "99-worker-ceph-rbd-csi-modules"), wide("ValidatingAdmissionPolicy", "ceph-rbd-csi-images-datasources"),
	} {
		if left(t, client, gone.Kind, gone.Namespace, gone.Name) {
			t.Errorf("%s is left", gone)
		}
		if !strings.Contains(out.String(), "  "+gone.String()+"\n") {
			t.Errorf("%s was not announced:\n%s", gone, out)
		}
	}
	for _, kept := range []target{wide("VolumeSnapshotClass", driver.RBD.SnapshotClass), wide("CloudInit", "ceph-rbd-csi-modules"), here("Lease", leaseOfOther)} {
		if !left(t, client, kept.Kind, kept.Namespace, kept.Name) {
			t.Errorf("%s is somebody else's and was removed", kept)
		}
	}
}

var machineImages = schema.GroupVersionResource{Group: "harvesterhci.io", Version: "v1beta1", Resource: "virtualmachineimages"}

// TestRunAndImages: Harvester would refuse to delete the class when all else has gone.
func TestRunAndImages(t *testing.T) {
	o, client, out := cluster(t)
	image := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"targetStorageClassName": driver.RBD.StorageClass}}}
	image.SetGroupVersionKind(machineImages.GroupVersion().WithKind("VirtualMachineImage"))
	image.SetName("ubuntu")
	if _, err := client.Resource(machineImages).Namespace("vms").Create(t.Context(), image, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const why = "Harvester lets nobody delete StorageClass ceph-rbd while the VirtualMachineImages vms/ubuntu use it"
	if err := Run(t.Context(), o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), why) {
		t.Errorf("error %v\n%s", err, out)
	}
	if !left(t, client, "Deployment", driver.Namespace, driver.RBD.OperatorName()) {
		t.Error("half of it was removed")
	}
	o.Force = true
	if err := Run(t.Context(), o); err != nil || !strings.Contains(out.String(), why) {
		t.Errorf("forced: error %v\n%s", err, out)
	}
	if left(t, client, "Deployment", driver.Namespace, driver.RBD.OperatorName()) || !left(t, client, "StorageClass", "", driver.RBD.StorageClass) {
		t.Error("forced: the operator is left, or the class is not")
	}
}

func TestRunAsks(t *testing.T) {
	o, client, out := cluster(t)
	o.Confirm = func() (bool, error) { return false, nil }
	if err := Run(t.Context(), o); !errors.Is(err, ErrNotConfirmed) {
		t.Errorf("error %v\n%s", err, out)
	}
	if !left(t, client, "Deployment", driver.Namespace, driver.RBD.OperatorName()) {
		t.Error("removed without a yes")
	}
}

func createInfrastructure(t *testing.T, client *dynamicfake.FakeDynamicClient) {
	t.Helper()
	infrastructure := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"infrastructureName": "demo-1"}}}
	infrastructure.SetGroupVersionKind(infrastructures.GroupVersion().WithKind("Infrastructure"))
	infrastructure.SetName("cluster")
	if _, err := client.Resource(infrastructures).Create(t.Context(), infrastructure, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func secretOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CredentialsSecret}, Data: data}
}

// TestTellsEachCondition: there are some twenty.
func TestTellsEachCondition(t *testing.T) {
	out := &bytes.Buffer{}
	tell(Options{Out: out}, nil, []string{"A", "B"}, nil, &cephClusters{})
	if want := "Will remove:\n  condition A of Storage cluster\n  condition B of Storage cluster\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("it says %q", out)
	}
}
