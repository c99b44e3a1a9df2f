package rights

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// WithPods is the suite that has the drivers' pods do all that they can: what they do not need is known
// where it was run.
const WithPods = "test-e2e-node-kubernetes"

// OperandAccounts are the ServiceAccounts of a driver's pods.
func OperandAccounts(d driver.Driver) []string {
	return []string{d.ControllerName() + "-sa", d.NodeName() + "-sa"}
}

// Operands are the accounts of the drivers' pods with the roles that they are bound to.
func Operands() ([]Account, error) {
	shared, err := sharedRoles()
	if err != nil {
		return nil, err
	}
	var out []Account
	for _, d := range driver.All {
		applied, err := operands(d)
		if err != nil {
			return nil, err
		}
		for _, name := range OperandAccounts(d) {
			own, others := applied.boundTo(name)
			account := Account{Name: name, Home: driver.Namespace, Held: own, Shared: map[string][]Right{}, Justified: ofPods(d)[name]}
			for _, b := range others {
				rules, known := shared[b.RoleRef.Name]
				if !known {
					return nil, fmt.Errorf("%s is bound to %s, which is neither its driver's nor one that all drivers share", name, b.RoleRef.Name)
				}
				account.Shared[b.RoleRef.Name] = Of(b.scope(), rules)
			}
			out = append(out, account)
		}
	}
	return out, nil
}

// boundTo are the rights of an account by roles of its own driver, and the bindings to other roles.
func (m manifests) boundTo(account string) (own []Right, others []role) {
	for _, b := range m.bindings {
		if !slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return s.Name == account && s.Namespace == driver.Namespace }) {
			continue
		}
		i := slices.IndexFunc(m.roles, func(r role) bool { return r.Kind == b.RoleRef.Kind && r.Metadata.Name == b.RoleRef.Name })
		if i < 0 {
			others = append(others, b)
			continue
		}
		own = append(own, Of(m.roles[i].scope(), m.roles[i].Rules)...)
	}
	return own, others
}

// sharedRoles are the rules of the roles that all drivers share, by their names.
func sharedRoles() (map[string][]rbacv1.PolicyRule, error) {
	out := map[string][]rbacv1.PolicyRule{}
	for name, content := range assets.SharedRoles() {
		var object role
		if err := yaml.Unmarshal(content, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = object.Rules
	}
	return out, nil
}
