package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestListedInPages: volumes are asked for page by page, and each page is trimmed before the next comes.
func TestListedInPages(t *testing.T) {
	const all = 3
	var lists []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		w.Header().Set("Content-Type", "application/json")
		lists = append(lists, fmt.Sprintf("limit=%s resourceVersion=%s continue=%s", query.Get("limit"), query.Get("resourceVersion"), query.Get("continue")))
		next := len(query.Get("continue")) + 1 // One volume a page.
		page := corev1.PersistentVolumeList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeList"}, ListMeta: metav1.ListMeta{ResourceVersion: "8"},
			Items: []corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pv-%d", next), Labels: map[string]string{"a": "b"}}}},
		}
		if next < all {
			page.Continue = strings.Repeat("c", next)
		}
		if err := json.NewEncoder(w).Encode(page); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	trimmer := newVolumeTrimmer(driver.RBD, cache.NewStore(cache.MetaNamespaceKeyFunc))
	// As an informer asks that has had a list before: an API server's cache would answer with all at once.
	list, err := trimmer.list(t.Context(), kube.CoreV1().PersistentVolumes(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range items {
		pv := item.(*corev1.PersistentVolume)
		names = append(names, pv.Name)
		if pv.Labels != nil {
			t.Errorf("%s is not trimmed: %v", pv.Name, pv.Labels)
		}
	}
	if want := []string{"pv-1", "pv-2", "pv-3"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	want := []string{"limit=500 resourceVersion= continue=", "limit=500 resourceVersion= continue=c", "limit=500 resourceVersion= continue=cc"}
	if !slices.Equal(lists, want) {
		t.Errorf("asked for %q, want %q", lists, want)
	}
}
