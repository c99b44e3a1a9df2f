package uninstall

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
		"Storage":          {Group: "operator.openshift.io", Version: "v1", Resource: "storages"},
	}
	maps.Copy(out, removal.Native)
	maps.Copy(out, removal.Extended)
	return out
}()

// target is an object that may be there.
type target struct {
	removal.Object
	// pods is the label "name" or "app" of pods that must have ended before anything else.
	pods string
	// writer: the pods put back what is removed, also in Ceph.
	writer bool
}

func here(kind, name string) target {
	return target{Object: removal.Object{Kind: kind, Namespace: driver.Namespace, Name: name}}
}

func wide(kind, name string) target { return target{Object: removal.Object{Kind: kind, Name: name}} }

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
		t.Mine = d.Owns
		out = append(out, t)
	}
	out = append(out, wide("ClusterRoleBinding", d.ImagesRole()), wide("ClusterRoleBinding", d.MachinesRole()), wide("ClusterRoleBinding", d.ModulesRole()))
	for _, object := range slices.Concat(objects.Classes, objects.Retired, objects.Rest) {
		out = append(out, target{Object: object})
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
		object, err := removal.Parse(path, content)
		if err != nil {
			return nil, err
		}
		out = append(out, target{Object: object})
	}
	return out, nil
}
