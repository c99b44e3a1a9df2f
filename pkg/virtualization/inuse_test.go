package virtualization

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

func TestImagesOn(t *testing.T) {
	image := func(name string, value string, path ...string) *unstructured.Unstructured {
		out := &unstructured.Unstructured{Object: map[string]any{"data": "much"}}
		out.SetNamespace("n")
		out.SetName(name)
		if err := unstructured.SetNestedField(out.Object, value, path...); err != nil {
			t.Fatal(err)
		}
		trimmed, err := trimImage(out)
		if err != nil {
			t.Fatal(err)
		}
		return trimmed.(*unstructured.Unstructured)
	}
	w := watching(t, machineImages,
		image("d", "c", "metadata", "annotations", "harvesterhci.io/storageClassName"),
		image("b", "c", "spec", "targetStorageClassName"),
		image("a", "c", "status", "storageClassName"),
		image("other", "e", "status", "storageClassName"),
		image("unlike", "c", "spec", "url"),
	)
	if diff := cmp.Diff([]string{"n/a", "n/b", "n/d"}, w.ImagesOn("c")); diff != "" {
		t.Error(diff)
	}
	if got := w.ImagesOn("none"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := (&Watches{}).ImagesOn("c"); len(got) > 0 {
		t.Errorf("got %v without Harvester", got)
	}
	if w.list(machineImages)[0].Object["data"] != nil {
		t.Error("the cache keeps what nobody reads")
	}
}

func TestReasonOf(t *testing.T) {
	classes := schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}
	webhook := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusUnprocessableEntity, Message: `admission webhook "validator.harvesterhci.io" denied the request: in use`,
	}}
	tests := map[string]struct {
		err  error
		want string
	}{
		"Webhook": {fmt.Errorf("deleting: %w", webhook), condition.AdmissionRefused},
		"Joined":  {errors.Join(webhook, errors.New("another")), condition.AdmissionRefused},
		"Policy":  {apierrors.NewForbidden(classes, "c", errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")), condition.AdmissionRefused},
		"RBAC":    {apierrors.NewForbidden(classes, "c", errors.New("User cannot delete")), condition.SyncError},
		"Server":  {apierrors.NewInternalError(errors.New("denied the request")), condition.SyncError},
		"Other":   {errors.New("denied the request"), condition.SyncError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reasonOf(tc.err); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
