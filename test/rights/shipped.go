package rights

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// GlueAccount is the ServiceAccount of `cluster-storage`.
const GlueAccount = "ceph-cluster-storage"

// Shipped are the accounts of the operators with the roles of the manifests in the repository at root.
func Shipped(root string) ([]Account, error) {
	var out []Account
	glue := manifests{}
	for _, d := range driver.All {
		own, err := readFolder(filepath.Join(root, "assets", "csidriveroperators", "ceph-"+d.Kind))
		if err != nil {
			return nil, err
		}
		operands, err := operands(d)
		if err != nil {
			return nil, err
		}
		out = append(out, Account{
			Name: d.OperatorName(), Home: driver.Namespace,
			Held:    own.rightsOf(byAdministrators(d), append(byOperator(d), d.OperatorName()+"-role", d.OperatorName()+"-clusterrole")...),
			Granted: operands.granted(), Bound: append(operands.bound(), bindingOf(byOperator(d))...), Justified: ofDriver(d),
		})
		for _, r := range own.roles {
			if !slices.Contains(append(byAdministrators(d), byOperator(d)...), r.Metadata.Name) {
				glue.roles = append(glue.roles, r)
			}
		}
	}
	installed, err := readFolder(filepath.Join(root, "manifests"))
	if err != nil {
		return nil, err
	}
	plain, err := readFolder(filepath.Join(root, "manifests", "kubernetes"))
	if err != nil {
		return nil, err
	}
	return append(out, Account{
		Name: GlueAccount, Home: driver.Namespace,
		// What both folders have is the same.
		Held:    append(installed.rightsOf(nil, GlueAccount, GlueAccount+"-granted"), plain.rightsOf(nil, GlueAccount+"-kubernetes")...),
		Granted: glue.granted(), Justified: ofGlue,
	}), nil
}

// manifests are the roles and bindings of some.
type manifests struct {
	roles    []role
	bindings []role
}

type role struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta   `json:"metadata"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
}

func (m *manifests) add(content []byte) error {
	var object role
	if err := yaml.Unmarshal(content, &object); err != nil {
		return err
	}
	switch object.Kind {
	case "Role", "ClusterRole":
		m.roles = append(m.roles, object)
	case "RoleBinding", "ClusterRoleBinding":
		m.bindings = append(m.bindings, object)
	}
	return nil
}

func readFolder(dir string) (manifests, error) {
	var out manifests
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return out, fmt.Errorf("no manifests in %s", dir)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return out, fmt.Errorf("reading a manifest: %w", err)
		}
		if err := out.add(content); err != nil {
			return out, fmt.Errorf("%s: %w", file, err)
		}
	}
	return out, nil
}

// operands are what an operator applies.
func operands(d driver.Driver) (manifests, error) {
	var out manifests
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "registry.example.com/image"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	if err != nil {
		return out, err
	}
	for _, name := range slices.Concat(set.Static(), set.UserSpace()) {
		content, err := set.Asset(name)
		if err != nil {
			return out, err
		}
		if err := out.add(content); err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// scope is where the rules of a role hold, or those that a binding grants.
func (r role) scope() Scope {
	if r.Kind == "Role" || r.Kind == "RoleBinding" {
		return Namespace
	}
	return Cluster
}

// granted are the rights in all roles.
func (m manifests) granted() []Right {
	var out []Right
	for _, r := range m.roles {
		out = append(out, Of(r.scope(), r.Rules)...)
	}
	return out
}

// byAdministrators are roles that administrators bind in some namespaces.
func byAdministrators(d driver.Driver) []string { return []string{d.ElsewhereRole(), d.RookRole()} }

// byOperator are roles that the operator binds to itself while something takes them.
func byOperator(d driver.Driver) []string {
	return []string{d.ImagesRole(), d.MachinesRole(), d.ModulesRole()}
}

// bindingOf are the rights to bind ClusterRoles.
func bindingOf(roles []string) []Right {
	var out []Right
	for _, name := range roles {
		out = append(out, Right{Scope: Cluster, Group: rbacv1.GroupName, Resource: "clusterroles", Name: name, Verb: "bind"})
	}
	return out
}

// rightsOf are those of roles that are bound, and of those that administrators bind in some
// namespaces.
func (m manifests) rightsOf(elsewhere []string, bound ...string) []Right {
	var out []Right
	for _, r := range m.roles {
		switch {
		case slices.Contains(elsewhere, r.Metadata.Name):
			out = append(out, Of(Elsewhere, r.Rules)...)
		case slices.Contains(bound, r.Metadata.Name):
			out = append(out, Of(r.scope(), r.Rules)...)
		}
	}
	return out
}

// bound are the rights to make the bindings.
func (m manifests) bound() []Right {
	var out []Right
	for _, b := range m.bindings {
		right := Right{Scope: b.scope(), Group: rbacv1.GroupName, Resource: "roles", Name: b.RoleRef.Name, Verb: "bind"}
		if b.RoleRef.Kind == "ClusterRole" {
			right.Resource = "clusterroles"
		}
		if !slices.Contains(out, right) {
			out = append(out, right)
		}
	}
	return out
}
