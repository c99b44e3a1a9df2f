package operator

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestServedVersions(t *testing.T) {
	tests := map[string]struct {
		reason  string
		deleted bool
		want    []string
	}{
		"Served":      {reason: "versions that are stored only cannot be used", want: []string{"v1"}},
		"Terminating": {reason: "the API server refuses new objects: nothing of the kind is to be made again", deleted: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": []any{
				map[string]any{"name": "v1beta1", "served": false, "schema": map[string]any{}},
				map[string]any{"name": "v1", "served": true, "schema": map[string]any{}},
			}}}}
			if tc.deleted {
				now := metav1.NewTime(time.Unix(1, 0))
				crd.SetDeletionTimestamp(&now)
			}
			trimmed, err := trimCRD(crd)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range []any{crd, trimmed} {
				if got := servedVersions(object); !slices.Equal(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			}
		})
	}
}
