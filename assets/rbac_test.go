package assets_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/rights"
)

// rbac is what a set of manifests says about rights. Namespaced and cluster-wide objects are
// kept apart by their kinds.
type rbac struct {
	roles    map[string][]rbacv1.PolicyRule // by "Role name" and "ClusterRole name"
	bindings []binding
	accounts map[string]bool
}

type binding struct {
	name      string
	namespace string // empty: of the whole cluster
	role      string // as the keys of rbac.roles
	subjects  []rbacv1.Subject
}

func readRBAC(t *testing.T, manifests map[string][]byte) rbac {
	t.Helper()
	out := rbac{roles: map[string][]rbacv1.PolicyRule{}, accounts: map[string]bool{}}
	for name, content := range manifests {
		var object struct {
			metav1.TypeMeta
			Metadata metav1.ObjectMeta   `json:"metadata"`
			Rules    []rbacv1.PolicyRule `json:"rules"`
			RoleRef  rbacv1.RoleRef      `json:"roleRef"`
			Subjects []rbacv1.Subject    `json:"subjects"`
		}
		if err := yaml.Unmarshal(content, &object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch object.Kind {
		case "ServiceAccount":
			out.accounts[object.Metadata.Name] = true
		case "Role", "ClusterRole":
			out.roles[object.Kind+" "+object.Metadata.Name] = object.Rules
		case "RoleBinding", "ClusterRoleBinding":
			out.bindings = append(out.bindings, binding{
				name: object.Metadata.Name, namespace: object.Metadata.Namespace,
				role: object.RoleRef.Kind + " " + object.RoleRef.Name, subjects: object.Subjects,
			})
		}
	}
	return out
}

func operandRBAC(t *testing.T, d driver.Driver) rbac {
	t.Helper()
	set := render(t, d)
	manifests := map[string][]byte{}
	for _, name := range slices.Concat(set.Static(), set.UserSpace()) {
		manifests[name] = content(t, set, name)
	}
	return readRBAC(t, manifests)
}

func operatorFolder(d driver.Driver) string {
	return filepath.Join("csidriveroperators", "ceph-"+d.Kind)
}

func operatorRBAC(t *testing.T, d driver.Driver) rbac {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(operatorFolder(d), "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s (%v)", operatorFolder(d), err)
	}
	manifests := map[string][]byte{}
	for _, file := range files {
		if manifests[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return readRBAC(t, manifests)
}

// rightsOf are all rights of some rules, wherever these hold.
func rightsOf(rules []rbacv1.PolicyRule) []rights.Right { return rights.Of(rights.Cluster, rules) }

// includes tells whether somebody with some rights has another, perhaps as one for all objects.
func includes(held []rights.Right, r rights.Right) bool {
	forAll := r
	forAll.Name = ""
	return slices.Contains(held, r) || slices.Contains(held, forAll)
}

func TestReferences(t *testing.T) {
	for _, d := range driver.All {
		operands, operator := operandRBAC(t, d), operatorRBAC(t, d)
		wide, inNamespace := operator.roles["ClusterRole "+d.OperatorName()+"-clusterrole"], operator.roles["Role "+d.OperatorName()+"-role"]
		for _, b := range slices.Concat(operands.bindings, operator.bindings) {
			kind, name, _ := strings.Cut(b.role, " ")
			_, shipped := operands.roles[b.role]
			_, own := operator.roles[b.role]
			mayBind := rightsOf(wide)
			if b.namespace != "" {
				mayBind = append(mayBind, rightsOf(inNamespace)...)
			}
			shared := kind == "ClusterRole" && includes(mayBind, rights.Right{Scope: rights.Cluster, Group: rbacv1.GroupName, Resource: "clusterroles", Name: name, Verb: "bind"})
			if !shipped && !own && !shared {
				t.Errorf("%s: %s binds %s, which is neither ours nor one that the operator may bind", d.Kind, b.name, b.role)
			}
			for _, subject := range b.subjects {
				ours := subject.Namespace == driver.Namespace && (operands.accounts[subject.Name] || operator.accounts[subject.Name])
				if !ours && (subject.Namespace != "openshift-monitoring" || subject.Name != "prometheus-k8s") {
					t.Errorf("%s: %s is for %s/%s, which nobody creates", d.Kind, b.name, subject.Namespace, subject.Name)
				}
			}
		}
	}
}

// TestGrantedIsHeld: the API server refuses a role with a rule that its creator does not hold.
func TestGrantedIsHeld(t *testing.T) {
	for _, d := range driver.All {
		operator := operatorRBAC(t, d)
		wide := rightsOf(operator.roles["ClusterRole "+d.OperatorName()+"-clusterrole"])
		inNamespace := rightsOf(slices.Concat(operator.roles["ClusterRole "+d.OperatorName()+"-clusterrole"], operator.roles["Role "+d.OperatorName()+"-role"]))
		for name, rules := range operandRBAC(t, d).roles {
			held := wide
			if strings.HasPrefix(name, "Role ") {
				held = inNamespace
			}
			for _, granted := range rightsOf(rules) {
				if !includes(held, granted) {
					t.Errorf("%s: %s grants %+v, which the operator does not hold", d.Kind, name, granted)
				}
			}
		}
	}
}

// TestNobodyMay: which rules are needed, test/rights compares after the end-to-end suites.
func TestNobodyMay(t *testing.T) {
	tests := map[string]struct {
		reason string
		is     func(rights.Right) bool
	}{
		"Everything": {
			reason: "a wildcard grants what does not exist yet",
			is:     func(r rights.Right) bool { return r.Verb == "*" || r.Resource == "*" || r.Group == "*" },
		},
		"MakeTokens": {
			reason: "upstream's roles do: whoever takes over a node could be any ServiceAccount of the cluster; assets/README.md says how to allow it to one, where Vault asks for it",
			is:     func(r rights.Right) bool { return r.Resource == "serviceaccounts/token" },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, d := range driver.All {
				for _, set := range []rbac{operatorRBAC(t, d), operandRBAC(t, d)} {
					for role, rules := range set.roles {
						for _, r := range slices.DeleteFunc(rightsOf(rules), func(r rights.Right) bool { return !test.is(r) }) {
							t.Errorf("%s: %s has %v: %s", d.Kind, role, r, test.reason)
						}
					}
				}
			}
		})
	}
}

// TestNodesReadNoSecrets: whoever takes over a node has the rights of its pods. ceph-csi gets the keys
// of Ceph with each call; the healer of rbd-nbd alone reads them, in a role of its own that is not there for others.
func TestNodesReadNoSecrets(t *testing.T) {
	for _, d := range driver.All {
		set := render(t, d)
		for what, tc := range map[string]struct {
			names, want []string
		}{
			"always":        {set.Static(), nil},
			"in user space": {set.UserSpace(), map[string][]string{driver.RBD.Kind: {"Role ceph-rbd-csi-driver-healer get " + driver.RBD.NodeSecret()}}[d.Kind]},
		} {
			var got []string
			manifests := map[string][]byte{}
			for _, name := range tc.names {
				manifests[name] = content(t, set, name)
			}
			operands := readRBAC(t, manifests)
			for _, b := range operands.bindings {
				if b.subjects[0].Name != d.NodeName()+"-sa" {
					continue
				}
				for _, r := range rightsOf(operands.roles[b.role]) {
					if r.Resource == "secrets" {
						got = append(got, b.role+" "+r.Verb+" "+r.Name)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", d.Kind, what, diff)
			}
		}
	}
}

// TestProxyMayAsk: it answers 500 to everybody where it may not ask who scrapes and whether
// they may.
func TestProxyMayAsk(t *testing.T) {
	for _, d := range driver.All {
		held := rightsOf(operandRBAC(t, d).roles["ClusterRole ceph-"+d.Kind+"-kube-rbac-proxy-role"])
		for group, resource := range map[string]string{
			"authentication.k8s.io": "tokenreviews",
			"authorization.k8s.io":  "subjectaccessreviews",
		} {
			if !includes(held, rights.Right{Scope: rights.Cluster, Group: group, Resource: resource, Verb: "create"}) {
				t.Errorf("%s: kube-rbac-proxy may not create %s", d.Kind, resource)
			}
		}
	}
}

// TestBoundRoles: the operator may bind exactly the roles that it binds, where it binds them, three of them to itself,
// and the shared ones go to the controllers.
func TestBoundRoles(t *testing.T) {
	for _, d := range driver.All {
		bound, mayBind := []string{"ClusterRole " + d.ImagesRole(), "ClusterRole " + d.MachinesRole(), "ClusterRole " + d.ModulesRole()}, []string(nil)
		for _, b := range operandRBAC(t, d).bindings {
			bound = append(bound, strings.TrimSpace(b.role+" "+b.namespace))
			if strings.HasPrefix(b.role, "ClusterRole openshift-csi-") && b.subjects[0].Name != d.ControllerName()+"-sa" {
				t.Errorf("%s: %s goes to %s", d.Kind, b.name, b.subjects[0].Name)
			}
		}
		roles := operatorRBAC(t, d).roles
		kinds := map[string]string{"clusterroles": "ClusterRole ", "roles": "Role "}
		for where, rules := range map[string][]rbacv1.PolicyRule{
			"":                     roles["ClusterRole "+d.OperatorName()+"-clusterrole"],
			" " + driver.Namespace: roles["Role "+d.OperatorName()+"-role"],
		} {
			for _, r := range rightsOf(rules) {
				if r.Verb == "bind" {
					mayBind = append(mayBind, kinds[r.Resource]+r.Name+where)
				}
			}
		}
		slices.Sort(bound)
		slices.Sort(mayBind)
		if diff := cmp.Diff(slices.Compact(bound), mayBind); diff != "" {
			t.Errorf("%s (-bound +may bind):\n%s", d.Kind, diff)
		}
	}
}
