package virtualization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const imagesName = "CephImageProtection"

// imageKind is a kind of objects that stand for a disk image of virtual machines.
type imageKind struct {
	schema.GroupResource
	kind string
	// holds is, in CEL, whether oldObject holds the image that params stands for. A DataVolume
	// and its PersistentVolumeClaim have the same name.
	holds string
}

// imageKinds are Harvester's images, and CDI's. A DataSource protects what lies in its own
// namespace; a DataImportCron all that it has imported and keeps.
var imageKinds = []imageKind{
	{
		GroupResource: machineImages.GroupResource, kind: "VirtualMachineImage",
		holds: "request.resource.resource != 'volumesnapshots' && params.metadata.name == oldObject.metadata.name",
	},
	{
		GroupResource: dataSources, kind: "DataSource",
		holds: "variables.source.?name.orValue('') == oldObject.metadata.name && " +
			"(variables.source.?namespace.orValue('') == '' || variables.source.?namespace.orValue('') == oldObject.metadata.namespace)",
	},
	{
		GroupResource: importCrons, kind: "DataImportCron",
		holds: "oldObject.metadata.?labels[?'cdi.kubevirt.io/dataImportCron'].orValue('') == params.metadata.name",
	},
}

func (k imageKind) crd() string { return k.GroupResource.String() }

// policy names the ValidatingAdmissionPolicy of a driver, and its binding.
func (k imageKind) policy(d driver.Driver) string {
	return "ceph-" + d.Kind + "-csi-images-" + k.Resource
}

type imageProtection struct{ Config }

// NewImageProtection returns the controller that, when asked to, keeps volumes of disk images
// of virtual machines from being deleted while the image exists: by a
// ValidatingAdmissionPolicy for each kind of images. It writes ImagesProtected: False, reason
// NotSupported where nobody brings images, or SyncError; it is absent when nobody asks.
func NewImageProtection(config Config) factory.Controller {
	k := keeper{
		Config: config, name: imagesName, conditionType: condition.ImagesProtected, role: config.Driver.ImagesRole(),
		kinds: policyKinds(config.Driver), wanted: imageProtection{config}.wanted,
	}
	return config.controller(imagesName, k.sync, config.CRDs, config.Rights.informer(config.Driver))
}

func (c imageProtection) wanted() (wish, error) {
	asked, err := optedIn(c.Settings, func(s driver.Settings) bool { return s.ProtectsImages() })
	if err != nil || !asked {
		return wish{}, err
	}
	all, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return wish{}, fmt.Errorf("listing StorageClasses: %w", err)
	}
	if known, _ := c.Watches.state(snapshotClasses); known == loading {
		return wish{}, errUndecided // Without their names, snapshots of images would be unprotected for a moment.
	}
	classes := volumeClasses(c.Driver, all, readSnapshotClasses(c.Watches, c.Driver))
	out := wish{asked: true, pointless: "there are no disk images: neither Harvester nor KubeVirt's containerized data importer is installed"}
	for _, image := range imageKinds {
		served := c.Served(image.crd())
		if len(served) == 0 {
			continue
		}
		out.pointless = ""
		newest := image.WithVersion(slices.MaxFunc(served, version.CompareKubeAwareVersionStrings)).GroupVersion()
		out.items = append(out.items,
			item{policies, image.protection(c.Driver, newest, classes)}, item{bindings, image.binding(c.Driver)})
	}
	return out, nil
}

// volumeClasses are, in CEL, the lists of names of the driver's StorageClasses and snapshot
// classes. Its own StorageClasses are among them while they are removed, too: volumes stay.
func volumeClasses(d driver.Driver, all []*storagev1.StorageClass, snapshots []snapshotClass) (out struct{ volumes, snapshots string }) {
	var names, ofSnapshots []string
	own := []string{d.StorageClass, d.Virtualization.Class}
	for _, class := range all {
		own = slices.DeleteFunc(own, func(name string) bool { return name == class.Name })
		if class.Provisioner == d.Name {
			names = append(names, "'"+class.Name+"'")
		}
	}
	for _, name := range own {
		if name != "" {
			names = append(names, "'"+name+"'")
		}
	}
	for _, s := range snapshots {
		if s.driver == d.Name {
			ofSnapshots = append(ofSnapshots, "'"+s.name+"'")
		}
	}
	slices.Sort(names)
	slices.Sort(ofSnapshots)
	out.volumes, out.snapshots = "["+strings.Join(names, ", ")+"]", "["+strings.Join(ofSnapshots, ", ")+"]"
	return out
}

// mayDelete are, in CEL, those who tidy up: the garbage collector, whose owner is gone, and the
// platforms themselves.
const mayDelete = "request.userInfo.username in ['system:serviceaccount:kube-system:generic-garbage-collector', " +
	"'system:serviceaccount:kube-system:namespace-controller', 'system:serviceaccount:harvester-system:harvester'] || " +
	"request.userInfo.username.matches('^system:serviceaccount:[^:]+:cdi-sa$')"

// provisionedBy is the annotation by which Kubernetes asks a driver for a claim's volume. It stays
// when the StorageClass goes.
const provisionedBy = "volume.kubernetes.io/storage-provisioner"

// protection refuses the deletion of a volume while an object of the kind stands for it. Where
// it cannot be evaluated it lets pass: without the CRD there are no images.
func (k imageKind) protection(d driver.Driver, image schema.GroupVersion, classes struct{ volumes, snapshots string }) *unstructured.Unstructured {
	out := k.object(d, "ValidatingAdmissionPolicy")
	out.Object["spec"] = map[string]any{
		"failurePolicy": "Ignore",
		"paramKind":     map[string]any{"apiVersion": image.String(), "kind": k.kind},
		"matchConstraints": map[string]any{"resourceRules": []any{
			deletionOf("", "v1", "persistentvolumeclaims"), deletionOf("cdi.kubevirt.io", "*", "datavolumes"),
			deletionOf("snapshot.storage.k8s.io", "*", "volumesnapshots"),
		}},
		"matchConditions": []any{map[string]any{"name": "somebody-else", "expression": "!(" + mayDelete + ")"}},
		"variables": []any{
			variable("class", "oldObject.?spec.?storageClassName.orValue(oldObject.?spec.?storage.?storageClassName.orValue("+
				"oldObject.?spec.?pvc.?storageClassName.orValue(oldObject.?spec.?volumeSnapshotClassName.orValue(''))))"),
			variable("ours", "request.resource.resource == 'volumesnapshots' ? variables.class in "+classes.snapshots+
				" : variables.class in "+classes.volumes+" || request.resource.resource == 'datavolumes' && variables.class == '' || "+
				"oldObject.metadata.?annotations[?'"+provisionedBy+"'].orValue('') == '"+d.Name+"'"),
			variable("source", "request.resource.resource == 'volumesnapshots' ? params.?spec.?source.?snapshot.orValue({}) : "+
				"params.?spec.?source.?pvc.orValue({})"),
			variable("ends", "has(params.metadata.deletionTimestamp) || oldObject.?status.?phase.orValue('') == 'Lost'"),
		},
		"validations": []any{map[string]any{
			"expression": "!variables.ours || variables.ends || !(" + k.holds + ")",
			"messageExpression": "request.kind.kind + ' ' + oldObject.metadata.name + ' holds the disk image of " + k.kind + " ' + params.metadata.name + " +
				"', from which disks of virtual machines are made: delete that, and this goes, too'",
			"reason": "Forbidden",
		}},
	}
	return out
}

// binding has the policy see, of the images, those in the namespace of what is deleted.
func (k imageKind) binding(d driver.Driver) *unstructured.Unstructured {
	out := k.object(d, "ValidatingAdmissionPolicyBinding")
	out.Object["spec"] = map[string]any{
		"policyName":        k.policy(d),
		"paramRef":          map[string]any{"selector": map[string]any{}, "parameterNotFoundAction": "Allow"},
		"validationActions": []any{"Deny"},
	}
	return out
}

func (k imageKind) object(d driver.Driver, kind string) *unstructured.Unstructured {
	return ownObject(d, policies.Group+"/"+policies.version, kind, k.policy(d))
}

func deletionOf(group, version, resource string) any {
	return map[string]any{
		"apiGroups": []any{group}, "apiVersions": []any{version}, "resources": []any{resource}, "operations": []any{"DELETE"},
	}
}

func variable(name, expression string) any {
	return map[string]any{"name": name, "expression": expression}
}

// ownObject is an object that carries the operator's mark.
func ownObject(d driver.Driver, apiVersion, kind, name string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	out.SetName(name)
	out.SetLabels(map[string]string{driver.ManagedByLabel: d.OperatorName()})
	return out
}
