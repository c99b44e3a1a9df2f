package usage

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func taken(name, driver, handle string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotContent",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"a": "b"}},
		"spec": map[string]any{
			"driver": driver, "source": map[string]any{"volumeHandle": "v"}, "deletionPolicy": "Retain",
			"volumeSnapshotRef": map[string]any{"namespace": "shop", "name": "before"},
		},
		"status": map[string]any{"snapshotHandle": handle, "readyToUse": true},
	}}
}

// watched are snapshots of RBD's driver that are read from a fake API server.
type watched struct {
	*Contents
	client *fake.FakeDynamicClient
	clock  *clocktesting.FakePassiveClock
	woken  chan struct{}
}

func watchContents(t *testing.T, objects ...runtime.Object) *watched {
	t.Helper()
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{ctrl.SnapshotContents: "VolumeSnapshotContentList"}, objects...)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	w := &watched{NewContents(client, clock, driver.RBD), client, clock, make(chan struct{}, 100)}
	if _, err := w.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { w.woken <- struct{}{} }}); err != nil {
		t.Fatal(err)
	}
	return w
}

// until waits, from one wake to the next, for what is known.
func (w *watched) until(t *testing.T, reason string, as func(handles []string, known bool, err error) bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		all, known, err := w.Taken()
		var handles []string
		for _, snapshot := range all {
			handles = append(handles, snapshot.Handle)
		}
		slices.Sort(handles)
		if as(handles, known, err) {
			return
		}
		select {
		case <-w.woken:
		case <-deadline:
			t.Fatalf("%s: got %q, %t, %v", reason, handles, known, err)
		}
	}
}

func (w *watched) expect(t *testing.T, reason string, want ...string) {
	t.Helper()
	w.until(t, reason, func(handles []string, known bool, err error) bool {
		return known && err == nil && slices.Equal(handles, want)
	})
}

func (w *watched) follow(t *testing.T, served bool) {
	t.Helper()
	if err := w.Contents.Follow(t.Context(), served); err != nil {
		t.Fatal(err)
	}
}

func TestContents(t *testing.T) {
	w := watchContents(t, taken("ours", driver.RBD.Name, "h1"), taken("theirs", "other", "h2"))
	if _, known, err := w.Taken(); known || err != nil {
		t.Errorf("nothing is known before anybody asked for the CRD: %t, %v", known, err)
	}
	w.follow(t, false)
	w.expect(t, "without the CRD")
	if len(w.client.Actions()) > 0 {
		t.Errorf("without the CRD nothing may be asked: %v", w.client.Actions())
	}
	w.follow(t, true)
	w.expect(t, "the driver's only", "h1")
	if used, known := w.used(); !known || len(used) != 1 {
		t.Errorf("in use: %v, %t", used, known)
	}
	if _, err := w.client.Resource(ctrl.SnapshotContents).Create(t.Context(), taken("rooks", "rook-ceph.rbd.csi.ceph.com", "h9"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.until(t, "another driver's snapshot is use", func([]string, bool, error) bool {
		used, _ := w.used()
		return slices.Contains(used, Snapshot{Driver: "rook-ceph.rbd.csi.ceph.com", Handle: "h9"})
	})
	if _, err := w.client.Resource(ctrl.SnapshotContents).Create(t.Context(), taken("new", driver.RBD.Name, "h3"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "a new one", "h1", "h3")
	if err := w.client.Resource(ctrl.SnapshotContents).Delete(t.Context(), "ours", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "one less", "h3")
	w.follow(t, false)
	w.expect(t, "with the CRD all have gone")
	w.follow(t, true)
	w.expect(t, "and come back with it", "h3")
}

func TestForbiddenSnapshots(t *testing.T) {
	w := watchContents(t, taken("ours", driver.RBD.Name, "h1"))
	allowed := make(chan struct{})
	w.client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case <-allowed:
			return false, nil, nil
		default:
			w.clock.SetTime(w.clock.Now().Add(refusedFor))
			return true, nil, apierrors.NewForbidden(ctrl.SnapshotContents.GroupResource(), "", errors.New("no"))
		}
	})
	w.follow(t, true)
	w.until(t, "what is forbidden is told", func(_ []string, known bool, err error) bool {
		return !known && apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ServiceAccount openshift-cluster-csi-drivers/ceph-rbd-csi-driver-operator")
	})
	close(allowed)
	w.expect(t, "once it is allowed", "h1")
}

// TestRefused has an API server that has just started refuse until it has read the roles: that is told once it lasts. A watch that
// tells all there is needs a list before it only where it was refused itself: no other list comes.
func TestRefused(t *testing.T) {
	refused := apierrors.NewForbidden(ctrl.SnapshotContents.GroupResource(), "", errors.New("no roles yet"))
	later := func(s *Contents, clock *clocktesting.FakePassiveClock) {
		clock.SetTime(clock.Now().Add(refusedFor))
		s.listed(refused)
	}
	for name, tc := range map[string]struct {
		reason string
		then   func(*Contents, *clocktesting.FakePassiveClock)
		want   bool
	}{
		"Once":     {reason: "a moment ago", then: func(*Contents, *clocktesting.FakePassiveClock) {}},
		"Refused":  {reason: "both are still refused", then: later, want: true},
		"Watched":  {reason: "the watch began with all there is", then: func(s *Contents, c *clocktesting.FakePassiveClock) { later(s, c); s.watched(nil) }},
		"Listed":   {reason: "the watch that follows the list is refused", then: func(s *Contents, c *clocktesting.FakePassiveClock) { later(s, c); s.listed(nil) }, want: true},
		"Followed": {reason: "the list was followed by a watch", then: func(s *Contents, c *clocktesting.FakePassiveClock) { later(s, c); s.listed(nil); s.watched(nil) }},
		"Anew": {reason: "refused a moment ago, after it had been allowed", then: func(s *Contents, c *clocktesting.FakePassiveClock) {
			s.watched(nil)
			later(s, c)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
			s := NewContents(nil, clock, driver.RBD)
			woken := 0
			if _, err := s.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { woken++ }}); err != nil {
				t.Fatal(err)
			}
			s.watched(refused)
			s.listed(refused)
			tc.then(s, clock)
			if err := s.problem(); apierrors.IsForbidden(err) != tc.want || tc.want && woken == 0 {
				t.Errorf("%s: %v, woken %d times", tc.reason, err, woken)
			}
		})
	}
}

func TestTrimSnapshot(t *testing.T) {
	s := NewContents(nil, clocktesting.NewFakePassiveClock(time.Unix(1000, 0)), driver.RBD)
	going := taken("c", driver.RBD.Name, "")
	now := metav1.Now()
	going.SetDeletionTimestamp(&now)
	for _, change := range []error{
		unstructured.SetNestedField(going.Object, "static", "spec", "source", "snapshotHandle"),
		unstructured.SetNestedField(going.Object, "Delete", "spec", "deletionPolicy"),
	} {
		if change != nil {
			t.Fatal(change)
		}
	}
	for reason, tc := range map[string]struct {
		whole  *unstructured.Unstructured
		want   Content
		others Snapshot
	}{
		"ours":           {whole: taken("c", driver.RBD.Name, "h"), want: Content{Name: "c", Handle: "h", Namespace: "shop", VolumeSnapshot: "before", Retain: true}},
		"declared, gone": {whole: going, want: Content{Name: "c", Handle: "static", Namespace: "shop", VolumeSnapshot: "before", Deleted: true}},
		"somebody's":     {whole: taken("c", "other", "h")},
		"Rook's":         {whole: taken("c", "rook-ceph.rbd.csi.ceph.com", "h"), others: Snapshot{Driver: "rook-ceph.rbd.csi.ceph.com", Handle: "h"}},
		"Rook's files":   {whole: taken("c", "rook-ceph.cephfs.csi.ceph.com", "h")},
	} {
		out, err := s.trim(tc.whole)
		if err != nil {
			t.Fatal(err)
		}
		trimmed := out.(*kept)
		if diff := cmp.Diff(tc.want, trimmed.Content); diff != "" || trimmed.others != tc.others || trimmed.GetName() != "c" || trimmed.GetLabels() != nil {
			t.Errorf("%s: kept %+v\n%s", reason, trimmed, diff)
		}
	}
}
