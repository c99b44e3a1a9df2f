package rights

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

const home = "drivers"

func held(scope Scope, verbs ...string) []Right {
	return Of(scope, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: verbs}})
}

func TestCompare(t *testing.T) {
	get := Right{Scope: Namespace, Resource: "secrets", Verb: "get"}
	badDays := Reason{Text: "for bad days"}
	asked := Request{Namespace: home, Resource: "secrets", Name: "a", Verb: "get"}
	tests := map[string]struct {
		reason  string
		account Account
		used    []Request
		want    []string
	}{
		"Used": {
			reason:  "what is asked for is needed",
			account: Account{Held: held(Namespace, "get")},
			used:    []Request{asked},
		},
		"Needless": {
			reason:  "nobody asks, grants or lists it",
			account: Account{Held: held(Namespace, "get", "delete")},
			used:    []Request{asked},
			want:    []string{"x does not need: delete secrets in the namespace"},
		},
		"Lacking": {
			reason:  "another role of the account allowed it, which is not ours to rely on",
			account: Account{},
			used:    []Request{asked},
			want:    []string{"x lacks: {Namespace:drivers Group: Resource:secrets Name:a Verb:get}, which it was seen to ask for"},
		},
		"Fallback": {
			reason:  "an informer that cannot stream lists",
			account: Account{Held: held(Namespace, "list", "watch")},
			used:    []Request{{Namespace: home, Resource: "secrets", Verb: "watch"}},
		},
		"NoFallback": {
			reason:  "a watch that cannot list works until the API server does not stream",
			account: Account{Held: held(Namespace, "watch")},
			used:    []Request{{Namespace: home, Resource: "secrets", Verb: "watch"}},
			want:    []string{"x lacks: list secrets in the namespace, which its watch falls back to"},
		},
		"WiderThanUsed": {
			reason:  "the right in the namespace does, so the one in the cluster is needless",
			account: Account{Held: append(held(Namespace, "get"), held(Cluster, "get")...)},
			used:    []Request{asked},
			want:    []string{"x does not need: get secrets in the cluster"},
		},
		"OneName": {
			reason: "the right for the one object does",
			account: Account{Held: append(held(Namespace, "get"),
				Right{Scope: Namespace, Resource: "secrets", Name: "a", Verb: "get"})},
			used: []Request{asked},
			want: []string{"x does not need: get secrets in the namespace"},
		},
		"Elsewhere": {
			reason:  "a role that is bound in some namespaces is used there",
			account: Account{Held: append(held(Elsewhere, "get"), held(Namespace, "get")...)},
			used:    []Request{{Namespace: "other", Resource: "secrets", Verb: "get"}},
			want:    []string{"x does not need: get secrets in the namespace"},
		},
		"Granted": {
			reason:  "the API server lets nobody grant what he does not hold",
			account: Account{Held: held(Cluster, "get"), Granted: held(Cluster, "get")},
		},
		"GrantedButNotHeld": {
			reason:  "the role would be refused",
			account: Account{Held: held(Namespace, "get"), Granted: held(Cluster, "get")},
			want:    []string{"x does not need: get secrets in the namespace", "x lacks: get secrets in the cluster, which it grants or binds"},
		},
		"Justified": {
			reason:  "a reason stands for the suite that is missing",
			account: Account{Held: held(Namespace, "get"), Justified: map[Right]Reason{get: badDays}},
		},
		"JustifiedAndUsed": {
			reason:  "a reason for what a suite shows has outlived itself",
			account: Account{Held: held(Namespace, "get"), Justified: map[Right]Reason{get: badDays}},
			used:    []Request{asked},
			want:    []string{"x was seen to use get secrets in the namespace, which is listed as needed all the same"},
		},
		"UsedSometimes": {
			reason:  "another course of the suite would not show it",
			account: Account{Held: held(Namespace, "get"), Justified: map[Right]Reason{get: {Text: "for bad days", Sometimes: true}}},
			used:    []Request{asked},
		},
		"StaleJustification": {
			reason:  "a reason for a right that has gone misleads",
			account: Account{Justified: map[Right]Reason{get: badDays}},
			want:    []string{"x lacks: get secrets in the namespace, which is listed as needed"},
		},
		"NoReason": {
			reason:  "a list without reasons justifies nothing",
			account: Account{Held: held(Namespace, "get"), Justified: map[Right]Reason{get: {Text: " "}}},
			want:    []string{"x: no reason for get secrets in the namespace"},
		},
		"Shared": {
			reason:  "a role of others is needed for one of its rights",
			account: Account{Shared: map[string][]Right{"main": held(Cluster, "get", "delete")}},
			used:    []Request{asked},
		},
		"SharedByNobody": {
			reason:  "what it allows is used by another account, if at all",
			account: Account{Held: held(Namespace, "get"), Shared: map[string][]Right{"main": held(Cluster, "delete")}},
			used:    []Request{asked},
			want:    []string{"x does not need: anything of main"},
		},
		"SharedAndOwn": {
			reason:  "the role that all drivers have would do",
			account: Account{Held: held(Namespace, "get"), Shared: map[string][]Right{"main": held(Cluster, "get")}},
			used:    []Request{asked},
			want:    []string{"x does not need: get secrets in the namespace"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.account.Name, tc.account.Home = "x", home
			if diff := cmp.Diff(tc.want, tc.account.Compare(tc.used)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
