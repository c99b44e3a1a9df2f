package virtualization

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const us = "operator"

func TestDecide(t *testing.T) {
	wanted := values{"a": "1"}
	tests := map[string]struct {
		reason  string
		wanted  values
		current values
		owners  owners
		want    plan
	}{
		"Missing": {
			reason: "nobody has said anything",
			wanted: wanted, want: plan{apply: wanted, write: true},
		},
		"Ours": {
			reason: "idle means idle",
			wanted: wanted, current: values{"a": "1"}, owners: owners{"a": {us}}, want: plan{apply: wanted},
		},
		"Outdated": {
			reason: "what is ours follows",
			wanted: wanted, current: values{"a": "0"}, owners: owners{"a": {us}}, want: plan{apply: wanted, write: true},
		},
		"TheirsAlike": {
			reason: "there is nothing to tell",
			wanted: wanted, current: values{"a": "1"}, owners: owners{"a": {"user"}}, want: plan{apply: values{}},
		},
		"Theirs": {
			reason: "a user's edit survives, the other fields stay ours",
			wanted: values{"a": "1", "b": "2"}, current: values{"a": "0", "b": "2"}, owners: owners{"a": {"user"}, "b": {us}},
			want: plan{apply: values{"b": "2"}, overrides: []override{{key: "a", wanted: "1", current: "0", by: "user"}}},
		},
		"Shared": {
			reason: "what another applied, too, is not to be changed under him",
			wanted: wanted, current: values{"a": "0"}, owners: owners{"a": {us, "user"}},
			want: plan{apply: values{}, write: true, overrides: []override{{key: "a", wanted: "1", current: "0", by: "user"}}},
		},
		"BeforeOwners": {
			reason: "whoever wrote it, it was not this operator",
			wanted: wanted, current: values{"a": "0"},
			want: plan{apply: values{}, overrides: []override{{key: "a", wanted: "1", current: "0", by: "somebody"}}},
		},
		"NotWanted": {
			reason:  "what is ours goes",
			current: values{"a": "1", "b": "2"}, owners: owners{"a": {us}, "b": {"user"}}, want: plan{apply: values{}, write: true},
		},
		"List": {
			reason: "lists are compared whole",
			wanted: values{"a": claimSets(nil)}, current: values{"a": claimSets(nil)}, owners: owners{"a": {us}},
			want: plan{apply: values{"a": claimSets(nil)}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide(tc.wanted, tc.current, tc.owners, us)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(plan{}, override{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwnersOf(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: us, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:a":{},"f:list":{"v:\"x\"":{}}}}`)},
		{Manager: "user", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{".":{},"f:x/y":{}}},"f:spec":{"f:a":{}}}`)},
		{Manager: "cdi", Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:a":{}}}`)},
		{Manager: "empty", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
		{Manager: "odd", FieldsV1: metav1.NewFieldsV1(`[]`)},
		{Manager: "none"},
	})
	if diff := cmp.Diff(owners{"a": {us, "user"}, "list": {us}}, ownersOf(object, "f:spec")); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(owners{"x/y": {"user"}}, ownersOf(object, "f:metadata", "f:annotations")); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// conflict is what the API server answers to an apply without force.
func conflict(fields ...string) error {
	var causes []metav1.StatusCause
	for _, f := range fields {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeFieldManagerConflict, Field: f, Message: `conflict with "kubectl-edit" using cdi.kubevirt.io/v1beta1`,
		})
	}
	return apierrors.NewApplyConflict(causes, "Apply failed")
}

func TestPerform(t *testing.T) {
	boom := errors.New("boom")
	tests := map[string]struct {
		reason  string
		plan    plan
		answers []error
		applied []values
		want    []override
		err     error
	}{
		"Nothing": {reason: "no write", plan: plan{apply: values{"a": "1"}}},
		"Write":   {reason: "one write", plan: plan{apply: values{"a": "1"}, write: true}, answers: []error{nil}, applied: []values{{"a": "1"}}},
		"Refused": {
			reason: "only what others own is left out", plan: plan{apply: values{"a": "1", "b": "2"}, write: true},
			answers: []error{conflict(".spec.a"), nil}, applied: []values{{"a": "1", "b": "2"}, {"b": "2"}},
			want: []override{{key: "a", wanted: "1", by: "kubectl-edit"}},
		},
		"Elsewhere": {
			reason: "a conflict about another part is an error", plan: plan{apply: values{"a": "1"}, write: true},
			answers: []error{boom}, applied: []values{{"a": "1"}}, err: boom,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var applied []values
			got, err := tc.plan.perform(t.Context(), ".spec.", func(_ context.Context, v values) error {
				applied = append(applied, v)
				return tc.answers[len(applied)-1]
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: got error %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.applied, applied); diff != "" {
				t.Errorf("%s: applied (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(override{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAdopt(t *testing.T) {
	held := owners{"a": {"process"}, "b": {"process", "user"}, "c": {"process"}, "d": {us}, "e": {"process", us}}
	want := owners{"a": {us}, "b": {"process", "user"}, "c": {"process"}, "d": {us}, "e": {us}}
	if !held.adopt("process", us, values{"a": "", "b": "", "d": "", "e": ""}) {
		t.Error("nothing was adopted")
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("what a user owns, or nobody wants, is not adopted (-want +got):\n%s", diff)
	}
	if (owners{"d": {us}}).adopt("process", us, values{"d": ""}) {
		t.Error("force must not be used where all is ours")
	}
}
