package removal

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Object names one that a driver's operator makes.
type Object struct {
	Kind, Namespace, Name string
	// Mine says whether an object of that name is ours; nil: its name is proof enough.
	Mine func(metav1.Object) bool
}

func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Objects are all that a driver's operator makes, in the order in which they must go.
type Objects struct {
	// Classes lead to new volumes.
	Classes []Object
	// Workloads have pods with the label "app" of their name, which use the rest to their end.
	Workloads []Object
	OptIn     []OptIn
	Rest      []Object
	// Retired are what a former version may have left, if this one had no time to take it away.
	Retired []Object
}

// OptIn are objects that the operator may read, and has made, only while a ClusterRoleBinding of its own is there.
type OptIn struct {
	Binding Object
	Objects []Object
}

// ObjectsOf lists what becomes of a driver's assets, and what its operator makes without one. What it
// remembers is not among it.
func ObjectsOf(d driver.Driver, set assets.Set) (Objects, error) {
	here := func(kind, name string) Object { return Object{Kind: kind, Namespace: driver.Namespace, Name: name} }
	out := Objects{Workloads: []Object{here("Deployment", d.ControllerName()), here("DaemonSet", d.NodeName())}}
	for _, name := range []string{assets.VirtualizationClass, assets.StorageClass, assets.VolumeSnapshotClass, assets.VolumeGroupSnapshotClass} {
		if !set.Has(name) {
			continue
		}
		class, err := read(set, name)
		if err != nil {
			return out, err
		}
		class.Mine = d.Owns
		out.Classes = append(out.Classes, class)
	}
	static := slices.Concat(set.Static(), set.UserSpace())
	slices.Reverse(static)
	for _, name := range append([]string{assets.Dashboard, assets.PrometheusRule, assets.ServiceMonitor, assets.CSIDriver}, static...) {
		object, err := read(set, name)
		if err != nil {
			return out, err
		}
		if name == assets.CSIDriver {
			object.Mine = driver.Applied
		}
		out.Rest = append(out.Rest, object)
	}
	for _, name := range set.Retired() {
		object, err := read(set, name)
		if err != nil {
			return out, err
		}
		out.Retired = append(out.Retired, object)
	}
	for _, name := range []string{d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret()} {
		out.Rest = append(out.Rest, here("Secret", name))
	}
	out.Rest = append(out.Rest, here("ConfigMap", d.StatusConfigMap()))
	// Of sidecars that did not release them, and whose successors would wait.
	for _, name := range d.SidecarLeases() {
		out.Rest = append(out.Rest, here("Lease", name))
	}
	return out, nil
}

func read(set assets.Set, name string) (Object, error) {
	content, err := set.Asset(name)
	if err != nil {
		return Object{}, err
	}
	return Parse(name, content)
}

// Parse reads what a manifest names.
func Parse(name string, content []byte) (Object, error) {
	var manifest struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	if err := yaml.Unmarshal(content, &manifest); err != nil {
		return Object{}, fmt.Errorf("parsing %s: %w", name, err)
	}
	_, native := Native[manifest.Kind]
	if _, extended := Extended[manifest.Kind]; !native && !extended {
		return Object{}, fmt.Errorf("%s is of kind %q, which nobody would remove", name, manifest.Kind)
	}
	return Object{Kind: manifest.Kind, Namespace: manifest.Metadata.Namespace, Name: manifest.Metadata.Name}, nil
}

// Native are the kinds of objects that the API server itself serves.
var Native = map[string]schema.GroupVersionResource{
	"ClusterRole":                      {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding":               {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"ConfigMap":                        {Version: "v1", Resource: "configmaps"},
	"CSIDriver":                        {Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
	"DaemonSet":                        {Group: "apps", Version: "v1", Resource: "daemonsets"},
	"Deployment":                       {Group: "apps", Version: "v1", Resource: "deployments"},
	"Lease":                            {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	"PodDisruptionBudget":              {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"Role":                             {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":                      {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	"Secret":                           {Version: "v1", Resource: "secrets"},
	"Service":                          {Version: "v1", Resource: "services"},
	"ServiceAccount":                   {Version: "v1", Resource: "serviceaccounts"},
	"StorageClass":                     {Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	"ValidatingAdmissionPolicy":        {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	"ValidatingAdmissionPolicyBinding": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
}

// Extended are those that a CRD brings, at the versions that are known; the API server may serve others.
var Extended = map[string]schema.GroupVersionResource{
	"CloudInit":                {Group: "node.harvesterhci.io", Version: "v1beta1", Resource: "cloudinits"},
	"MachineConfig":            {Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"},
	"PrometheusRule":           {Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	"ServiceMonitor":           {Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
	"VolumeGroupSnapshotClass": {Group: "groupsnapshot.storage.k8s.io", Version: "v1beta2", Resource: "volumegroupsnapshotclasses"},
	"VolumeSnapshotClass":      {Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"},
}

// resource returns that of a kind; false where no CRD brings it, so that no object can be there.
func resource(kind string, served func(crd string) []string) (schema.GroupVersionResource, bool) {
	if out, native := Native[kind]; native {
		return out, true
	}
	out := Extended[kind]
	versions := served(out.GroupResource().String())
	if len(versions) == 0 {
		return out.GroupResource().WithVersion(""), false
	}
	out.Version = slices.MaxFunc(versions, version.CompareKubeAwareVersionStrings)
	return out, true
}

// Records are where the classes of a driver are remembered.
func Records(env ctrl.Env) map[string]Record {
	client, lister := env.Kube.CoreV1(), env.ConfigMaps.Lister()
	named := func(kind, name string) string { return Object{Kind: kind, Name: name}.String() }
	return map[string]Record{
		named("StorageClass", env.Driver.StorageClass):              state.Classes(client, lister, env.Driver),
		named("StorageClass", env.Driver.Virtualization.Class):      state.VirtualizationClasses(client, lister, env.Driver),
		named("VolumeSnapshotClass", env.Driver.SnapshotClass):      state.SnapshotClasses(client, lister, env.Driver),
		named("VolumeGroupSnapshotClass", env.Driver.SnapshotClass): state.GroupSnapshotClasses(client, lister, env.Driver),
	}
}
