package uninstall

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// resources are the kinds that are removed, at the versions that are asked for first.
var resources = func() map[string]schema.GroupVersionResource {
	out := map[string]schema.GroupVersionResource{
		"ClusterCSIDriver": {Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"},
		"ClusterOperator":  {Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"},
		"Storage":          storages,
	}
	maps.Copy(out, removal.Native)
	maps.Copy(out, removal.Extended)
	return out
}()

// target names an object that may be there.
type target struct {
	kind, namespace, name string
	// mine says whether an object of that name is ours; nil: its name is proof enough.
	mine func(*unstructured.Unstructured) bool
	// pods is the label "name" or "app" of pods that must have ended before anything else.
	pods string
	// writer: the pods put back what is removed, also in Ceph.
	writer bool
}

func (t target) String() string {
	if t.namespace == "" {
		return t.kind + " " + t.name
	}
	return t.kind + " " + t.namespace + "/" + t.name
}

func here(kind, name string) target {
	return target{kind: kind, namespace: driver.Namespace, name: name}
}

func wide(kind, name string) target { return target{kind: kind, name: name} }

// targets are all objects, in the order in which they must go: who restores others first,
// then operands before what they use, roles last.
func targets(o Options) ([]target, error) {
	out := []target{operator(clusterstorage.Name)}
	for _, d := range o.drivers() {
		out = append(out, operator(d.OperatorName()))
	}
	for _, d := range o.drivers() {
		operands, err := operands(d, o.Operands[d.Name])
		if err != nil {
			return nil, err
		}
		out = append(out, operands...)
	}
	for _, config := range configs.Configs(configs.Cluster{Getenv: func(string) string { return "" }}) {
		operators, err := fromOperator(config, o.Operators)
		if err != nil {
			return nil, err
		}
		out = append(out, operators...)
	}
	for _, d := range o.drivers() {
		out = append(out, here("Secret", d.ServingCertSecret()), here("Lease", d.OperatorName()+"-lock"))
	}
	return append(out, ofGlue()...), nil
}

// operator is a Deployment of ours that would put back what is removed, here or in Ceph.
func operator(name string) target {
	t := stopping("Deployment", name, "name="+name)
	t.writer = true
	return t
}

func stopping(kind, name, pods string) target {
	t := here(kind, name)
	t.pods = pods
	return t
}

// operands are what a driver's operator made.
func operands(d driver.Driver, set assets.Set) ([]target, error) {
	objects, err := removal.ObjectsOf(d, set)
	if err != nil {
		return nil, err
	}
	var out []target
	for _, workload := range objects.Workloads {
		out = append(out, stopping(workload.Kind, workload.Name, "app="+workload.Name))
	}
	for _, object := range virtualization.Objects(d) {
		t := wide(object.Kind, object.Name)
		t.mine = func(object *unstructured.Unstructured) bool { return d.Owns(object) }
		out = append(out, t)
	}
	out = append(out, wide("ClusterRoleBinding", d.ImagesRole()), wide("ClusterRoleBinding", d.MachinesRole()), wide("ClusterRoleBinding", d.ModulesRole()))
	for _, object := range slices.Concat(objects.Classes, objects.Retired, objects.Rest) {
		t := target{kind: object.Kind, namespace: object.Namespace, name: object.Name}
		if mine := object.Mine; mine != nil {
			t.mine = func(object *unstructured.Unstructured) bool { return mine(object) }
		}
		out = append(out, t)
	}
	return append(out, here("Secret", d.MetricsCertSecret()), here("ConfigMap", d.StateConfigMap()), wide("ClusterCSIDriver", d.Name)), nil
}

// fromOperator are what a driver's operator was installed with.
func fromOperator(config configs.CSIOperatorConfig, read func(string) ([]byte, error)) ([]target, error) {
	var out []target
	static := slices.Clone(config.StaticAssets)
	slices.Reverse(static)
	for _, path := range append([]string{config.ServiceMonitorAsset, config.StandaloneOperatorConfigAsset}, static...) {
		content, err := read(path)
		if err != nil {
			return nil, err
		}
		t, err := parse(path, content)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func parse(name string, content []byte) (target, error) {
	var object struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	if err := yaml.Unmarshal(content, &object); err != nil {
		return target{}, fmt.Errorf("parsing %s: %w", name, err)
	}
	if _, known := resources[object.Kind]; !known {
		return target{}, fmt.Errorf("%s is of kind %q, which nobody would remove", name, object.Kind)
	}
	return target{kind: object.Kind, namespace: object.Metadata.Namespace, name: object.Metadata.Name}, nil
}
