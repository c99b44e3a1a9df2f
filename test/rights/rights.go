// Package rights compares what the shipped roles allow with what is needed, both ways. Needed
// is what the end-to-end suites were seen to use, what the API server wants to be held by who
// grants it, and a short list with reasons.
package rights

import (
	"cmp"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Scope is where a right holds. The order is from narrow to wide.
type Scope int

const (
	// Namespace is that of the drivers.
	Namespace Scope = iota
	// Elsewhere is any namespace in which an administrator binds the role for it.
	Elsewhere
	// Cluster is everywhere.
	Cluster
)

func (s Scope) String() string {
	return [...]string{"in the namespace", "elsewhere", "in the cluster"}[s]
}

// Right is one verb on one resource; Name is empty for all objects of it.
type Right struct {
	Scope                       Scope
	Group, Resource, Name, Verb string
}

func (r Right) String() string {
	name, group := "", ""
	if r.Name != "" {
		name = "/" + r.Name
	}
	if r.Group != "" {
		group = "." + r.Group
	}
	return fmt.Sprintf("%s %s%s%s %s", r.Verb, r.Resource, group, name, r.Scope)
}

// Of expands the rules of a role.
func Of(scope Scope, rules []rbacv1.PolicyRule) []Right {
	var out []Right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						out = append(out, Right{scope, group, resource, name, verb})
					}
				}
			}
		}
	}
	return out
}

// Request is what an account has asked the API server for. Namespace is empty for what belongs
// to none, or to all.
type Request struct {
	Namespace, Group, Resource, Name, Verb string
}

// allows says whether a right covers a request, where the drivers are in home.
func (r Right) allows(q Request, home string) bool {
	if r.Group != q.Group || r.Resource != q.Resource || r.Verb != q.Verb || r.Name != "" && r.Name != q.Name {
		return false
	}
	switch r.Scope {
	case Namespace:
		return q.Namespace == home
	case Elsewhere:
		return q.Namespace != "" && q.Namespace != home
	}
	return true
}

// covers says whether whoever holds r may grant other: in a namespace that takes no right
// in the whole cluster, but that will do.
func (r Right) covers(other Right) bool {
	same := r.Group == other.Group && r.Resource == other.Resource && r.Verb == other.Verb
	return same && (r.Name == "" || r.Name == other.Name) && (r.Scope == other.Scope || r.Scope == Cluster)
}

// narrowest of the rights that match: one for a name first, then by scope.
func narrowest(held []Right, match func(Right) bool) (Right, bool) {
	var matching []Right
	for _, r := range held {
		if match(r) {
			matching = append(matching, r)
		}
	}
	if len(matching) == 0 {
		return Right{}, false
	}
	return slices.MinFunc(matching, func(a, b Right) int {
		named := func(r Right) int { return min(len(r.Name), 1) }
		return cmp.Or(cmp.Compare(named(b), named(a)), cmp.Compare(a.Scope, b.Scope))
	}), true
}
