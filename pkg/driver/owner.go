package driver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagedByLabel marks the classes that an operator made; its value is the operator's name.
// Without it, a class is somebody else's, whatever its name and provisioner.
const ManagedByLabel = "storage.openshift.io/managed-by"

// Owns says whether the object carries the mark of the driver's operator.
func (d Driver) Owns(object metav1.Object) bool {
	return object.GetLabels()[ManagedByLabel] == d.OperatorName()
}

// Applied says whether a CSIDriver was applied from our assets. Users may strip the first mark, the second
// comes with every apply. Helm's annotations prove nothing, they outlive its object.
func Applied(csiDriver metav1.Object) bool {
	_, managed := csiDriver.GetAnnotations()["csi.openshift.io/managed"]
	_, hashed := csiDriver.GetAnnotations()[specHash]
	return managed || hashed
}

// LeftAlone says whose a class of the operator's name is, and how to end that.
func LeftAlone(kind string, class metav1.Object, provisioner string) string {
	name := class.GetName()
	return fmt.Sprintf("%s %s, of driver %s, belongs to %s and is left alone; to let this operator make its own: oc delete %s %s",
		kind, name, provisioner, Owner(class), strings.ToLower(kind), name)
}

// Marks of those who deploy ceph-csi otherwise.
const (
	helmRelease     = "meta.helm.sh/release-name"
	helmNamespace   = "meta.helm.sh/release-namespace"
	cephCSIOwner    = "csi.ceph.io/ownerref"
	managedByApp    = "app.kubernetes.io/managed-by"
	clientSideApply = "kubectl.kubernetes.io/last-applied-configuration"
	unknownOwner    = "an unknown owner"
)

// Owner names, for a message, who made an object that is not ours.
func Owner(object metav1.Object) string {
	annotations, labels := object.GetAnnotations(), object.GetLabels()
	if release := annotations[helmRelease]; release != "" {
		return "Helm release " + annotations[helmNamespace] + "/" + release
	}
	if reference := annotations[cephCSIOwner]; reference != "" {
		return "ceph-csi-operator" + driverCR(reference)
	}
	if owners := object.GetOwnerReferences(); len(owners) > 0 {
		return owners[0].Kind + " " + owners[0].Name
	}
	if manager := cmp.Or(labels[ManagedByLabel], labels[managedByApp]); manager != "" {
		return manager
	}
	if _, applied := annotations[clientSideApply]; applied {
		return "kubectl apply"
	}
	if fields := object.GetManagedFields(); len(fields) > 0 {
		return "client " + fields[0].Manager
	}
	return unknownOwner
}

// driverCR names the Driver resource in ceph-csi-operator's annotation, if that is readable.
func driverCR(reference string) string {
	var key struct{ Namespace, Name string }
	if err := json.Unmarshal([]byte(reference), &key); err != nil || key.Name == "" {
		return ""
	}
	return "'s Driver " + key.Namespace + "/" + key.Name
}
