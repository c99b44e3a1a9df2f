package lint

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// right is a verb on a resource.
type right struct {
	group, resource, verb string
	// named says that it is limited to objects by name, cluster that it holds in all namespaces.
	named, cluster bool
	// shared says that it is in a role that OpenShift has for the sidecars of all drivers.
	shared bool
}

var (
	reads  = []string{"get", "list", "watch", "*"}
	writes = []string{"create", "update", "patch", "delete", "deletecollection", "*"}
)

// ofRights are the classes of findings in what ServiceAccounts may do.
var ofRights = []class[right]{
	{"verbs on kinds or groups by wildcard", func(r right) int { return strings.Count(r.group+r.resource+r.verb, "*") }},
	{"verbs on all Secrets of the cluster, by roles of its own", func(r right) int {
		return number(!r.shared && r.cluster && !r.named && r.resource == "secrets")
	}},
	{"verbs on all Secrets of the cluster, by roles that all drivers share", func(r right) int {
		return number(r.shared && r.cluster && !r.named && r.resource == "secrets")
	}},
	{"escalate, impersonate, and bind of any role", func(r right) int {
		return number(!r.named && slices.Contains([]string{"escalate", "impersonate", "bind"}, r.verb))
	}},
	{"verbs that write any role or binding", func(r right) int {
		return number(!r.named && r.group == rbacv1.GroupName && slices.Contains(writes, r.verb))
	}},
	{"verbs that write any object of a kind in the cluster", func(r right) int {
		return number(!r.shared && r.cluster && !r.named && slices.Contains(writes, r.verb))
	}},
	{"verbs that read any object of a kind in the cluster", func(r right) int {
		return number(!r.shared && r.cluster && !r.named && slices.Contains(reads, r.verb))
	}},
	{"verbs that write any object of a kind in the namespace", func(r right) int {
		return number(!r.cluster && !r.named && slices.Contains(writes, r.verb))
	}},
}

// rightsOf are those that are bound by somebody in the manifests, each once for each role and binding.
func rightsOf(manifests []manifest) []right {
	var out []right
	for _, b := range manifests {
		if !strings.HasSuffix(b.Kind, "RoleBinding") {
			continue
		}
		for _, role := range manifests {
			if role.Kind != b.RoleRef.Kind || role.Metadata.Name != b.RoleRef.Name {
				continue
			}
			for _, rule := range role.Rules {
				out = append(out, expand(rule, b.Kind == "ClusterRoleBinding", strings.HasPrefix(role.Metadata.Name, sharedPrefix))...)
			}
		}
	}
	return out
}

// sharedPrefix begins the names of the roles for sidecars.
const sharedPrefix = "openshift-csi-"

func expand(rule rbacv1.PolicyRule, cluster, shared bool) []right {
	var out []right
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				out = append(out, right{group: group, resource: resource, verb: verb, named: len(rule.ResourceNames) > 0, cluster: cluster, shared: shared})
			}
		}
	}
	return out
}
