package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestServedBy(t *testing.T) {
	version := func(name string, served, storage bool) any {
		return map[string]any{"name": name, "served": served, "storage": storage}
	}
	for name, tc := range map[string]struct {
		reason   string
		versions []any
		want     string
	}{
		"One":     {reason: "there is no other", versions: []any{version("v1", true, true)}, want: "v1"},
		"Stored":  {reason: "the webhook that converts may not run", versions: []any{version("v1beta1", true, false), version("v1beta2", true, true), version("v1", true, false)}, want: "v1beta2"},
		"Retired": {reason: "what is stored may not be served any more", versions: []any{version("v1beta1", false, true), version("v1", true, false)}, want: "v1"},
		"None":    {reason: "nobody can read the objects", versions: []any{version("v1", false, true)}},
		"Unread":  {reason: "it has no versions"},
	} {
		crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": tc.versions}}}
		if got, err := ServedBy(crd); got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %s: got %q, %v", name, tc.reason, got, err)
		}
	}
}
