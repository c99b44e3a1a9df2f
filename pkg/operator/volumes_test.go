package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestListedInPages: an API server that does not stream is asked for volumes page by page, and each is trimmed.
func TestListedInPages(t *testing.T) {
	const all = 3
	var mu sync.Mutex
	var lists []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case query.Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			mu.Lock()
			lists = append(lists, fmt.Sprintf("limit=%s resourceVersion=%s continue=%s", query.Get("limit"), query.Get("resourceVersion"), query.Get("continue")))
			mu.Unlock()
			next := len(query.Get("continue")) + 1 // One volume a page.
			page := corev1.PersistentVolumeList{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"},
				Items: []corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pv-%d", next), Labels: map[string]string{"a": "b"}}}},
			}
			if next < all {
				page.Continue = strings.Repeat("c", next)
			}
			if err := json.NewEncoder(w).Encode(page); err != nil {
				t.Error(err)
			}
		}
	}))
	defer server.Close()
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(kube, 0)
	if err := informVolumes(factory, driver.RBD); err != nil {
		t.Fatal(err)
	}
	volumes := factory.Core().V1().PersistentVolumes()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer factory.Shutdown()
	defer cancel()
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), volumes.Informer().HasSynced) {
		t.Fatal("the volumes are not listed")
	}
	held, err := volumes.Lister().List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	if len(held) != all {
		t.Errorf("got %d volumes, want %d", len(held), all)
	}
	for _, pv := range held {
		if pv.Labels != nil {
			t.Errorf("%s is not trimmed: %v", pv.Name, pv.Labels)
		}
	}
	want := []string{"limit=500 resourceVersion= continue=", "limit=500 resourceVersion= continue=c", "limit=500 resourceVersion= continue=cc"}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(lists, want) {
		t.Errorf("asked for %q, want %q", lists, want)
	}
}
