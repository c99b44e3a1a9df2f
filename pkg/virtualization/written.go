package virtualization

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Kinds of objects that the operator writes as a whole. Of MachineConfigs and CloudInits only
// its own are read: others hold credentials.
var (
	policies = kind{
		GroupResource: schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"},
		version:       "v1",
	}
	bindings = kind{
		GroupResource: schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"},
		version:       "v1",
	}
	machineConfigs = schema.GroupResource{Group: "machineconfiguration.openshift.io", Resource: "machineconfigs"}
	cloudInits     = schema.GroupResource{Group: "node.harvesterhci.io", Resource: "cloudinits"}
)

// machineRoles are those that every OpenShift cluster gives its nodes.
var machineRoles = []string{"master", "worker"}

// Object names one that the operator writes as a whole, cluster-wide.
type Object struct{ Kind, Name string }

// Objects are all that a driver's operator may have written as a whole, and may remove where
// they carry its mark (driver.Owns), bindings before what they bind.
func Objects(d driver.Driver) []Object {
	var out []Object
	for _, kind := range []string{"ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"} {
		for _, image := range imageKinds {
			out = append(out, Object{kind, image.policy(d)})
		}
	}
	for _, role := range machineRoles {
		out = append(out, Object{"MachineConfig", machineConfigName(d, role)})
	}
	return append(out, Object{"CloudInit", cloudInitName(d)})
}

// kindsOf are all kinds that a driver's operator watches.
func kindsOf(d driver.Driver) []kind {
	return slices.Concat([]kind{snapshotClasses}, platformKinds(d), policyKinds(d), moduleKinds(d))
}

func policyKinds(d driver.Driver) []kind {
	out := []kind{policies, bindings}
	for i := range out {
		out[i].selector, out[i].role = driver.ManagedByLabel+"="+d.OperatorName(), d.ImagesRole()
	}
	return out
}

func moduleKinds(d driver.Driver) []kind {
	var out []kind
	for _, role := range machineRoles {
		out = append(out, kind{GroupResource: machineConfigs, name: machineConfigName(d, role), role: d.ModulesRole()})
	}
	return append(out, kind{GroupResource: cloudInits, name: cloudInitName(d), role: d.ModulesRole()})
}

func machineConfigName(d driver.Driver, role string) string {
	return "99-" + role + "-ceph-" + d.Kind + "-csi-modules"
}

func cloudInitName(d driver.Driver) string { return "ceph-" + d.Kind + "-csi-modules" }
