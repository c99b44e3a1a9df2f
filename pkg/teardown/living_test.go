package teardown

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

func volumeOf(name, driver, handle string, attributes map[string]string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle, VolumeAttributes: attributes}},
	}}
}

func object(kind, version, name string, fields map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: fields}
	out.SetAPIVersion(version)
	out.SetKind(kind)
	out.SetName(name)
	return out
}

func TestReadLiving(t *testing.T) {
	uuids := []string{teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID()}
	retained := volumeOf("pv-3", "rbd.csi.ceph.com", "mine", map[string]string{"imageName": "csi-vol-" + uuids[3]})
	retained.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	kube := kubefake.NewClientset(
		volumeOf("pv-0", "rbd.csi.ceph.com", teardowntest.Handle(uuids[0]), nil),
		volumeOf("pv-1", "cephfs.csi.ceph.com", "static", map[string]string{"rootPath": "/volumes/csi/csi-vol-" + uuids[1] + "/x"}),
		volumeOf("pv-2", "nfs.csi.k8s.io", "server#share#csi-vol-"+uuids[2], nil),
		retained,
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CephFS.ConfigSecret()},
			Data:       map[string][]byte{"config.json": []byte(`[{"clusterID": "c", "monitors": ["m"], "cephFS": {"radosNamespace": "n"}}, {"clusterID": "d", "monitors": ["m"]}]`)},
		},
	)
	objects := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ctrl.SnapshotContents: "VolumeSnapshotContentList"},
		object("Infrastructure", "config.openshift.io/v1", "cluster", map[string]any{"status": map[string]any{"infrastructureName": "b"}}),
		object("VolumeSnapshotContent", "snapshot.storage.k8s.io/v1", "c-0", map[string]any{
			"spec": map[string]any{"driver": "rbd.csi.ceph.com", "deletionPolicy": "Retain"}, "status": map[string]any{"snapshotHandle": teardowntest.Handle(uuids[4])},
		}),
		object("VolumeSnapshotContent", "snapshot.storage.k8s.io/v1", "c-1", map[string]any{
			"spec": map[string]any{"driver": "other", "source": map[string]any{"snapshotHandle": "snap-" + uuids[5]}},
		}),
	)
	cluster, err := ReadLiving(t.Context(), kube, objects)
	if err != nil || cluster.InfraID != "b" {
		t.Fatalf("%+v, %v", cluster, err)
	}
	if !slices.Equal(cluster.JournalNamespaces, []string{"n"}) {
		t.Errorf("namespaces of journals: %q", cluster.JournalNamespaces)
	}
	living := cluster.Ours
	shown := Item{UUID: uuids[1], Name: "csi-vol-" + uuids[1]}
	if got := cluster.Shown.Names(shown); got != "PersistentVolume pv-1 of cluster b" {
		t.Errorf("a path of a volume: %q", got)
	}
	for i, want := range []string{
		"PersistentVolume pv-0 of cluster b", "", "", "PersistentVolume pv-3 of cluster b", "VolumeSnapshotContent c-0 of cluster b", "",
	} {
		if got := living.Names(Item{UUID: uuids[i], Name: "csi-vol-" + uuids[i]}); got != want {
			t.Errorf("volume %d is named by %q, want %q", i, got, want)
		}
	}
	for i, retained := range []bool{false, false, false, true, true} {
		if whose := cluster.Retained.Names(Item{UUID: uuids[i]}); (whose != "") != retained {
			t.Errorf("volume %d is to outlive its object, says %q", i, whose)
		}
	}
	if got := living.Names(Item{Name: "static"}); got != "PersistentVolume pv-1 of cluster b" {
		t.Errorf("a static handle: %q", got)
	}
	if got := living.Names(Item{}); got != "" {
		t.Errorf("nothing at all is named by %q", got)
	}
}

// TestShownIsNamed: what a volume shows is alive, and need not be the cluster's.
func TestShownIsNamed(t *testing.T) {
	uuid := teardowntest.UUID()
	path := "/volumes/csi/csi-vol-" + teardowntest.UUID() + "/data"
	tests := map[string]struct {
		reason     string
		attributes map[string]string
	}{
		"Snapshot":        {"below the directory that it was taken of", map[string]string{"rootPath": path + "/.snap/_csi-snap-" + uuid + "_1099511627776/sub"}},
		"SnapshotAbove":   {"in that directory", map[string]string{"rootPath": path + "/.snap/csi-snap-" + uuid}},
		"BackingSnapshot": {"by its name", map[string]string{"rootPath": path, "backingSnapshotID": "csi-snap-" + uuid}},
		"Parent":          {"the subvolume of the snapshot that ceph-csi shows", map[string]string{"subvolumePath": "/volumes/csi/csi-vol-" + uuid}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kube := kubefake.NewClientset(volumeOf("pv", driver.CephFS.Name, "static", tc.attributes))
			objects := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ctrl.SnapshotContents: "VolumeSnapshotContentList"},
				object("Infrastructure", "config.openshift.io/v1", "cluster", map[string]any{"status": map[string]any{"infrastructureName": "b"}}))
			cluster, err := ReadLiving(t.Context(), kube, objects)
			if err != nil {
				t.Fatal(err)
			}
			item := Item{UUID: uuid}
			if got := cluster.Shown.Names(item); got != "PersistentVolume pv of cluster b" {
				t.Errorf("%s: it is named by %q", tc.reason, got)
			}
			if got := cluster.Ours.Names(item); got != "" {
				t.Errorf("%s: it is taken for the cluster's: %q", tc.reason, got)
			}
		})
	}
}

// TestReadLivingOfOthers: what other CSI drivers of the cluster hold is not the operator's, and is as
// much alive.
func TestReadLivingOfOthers(t *testing.T) {
	uuids := []string{teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID(), teardowntest.UUID()}
	before := func(name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: source}}
	}
	kube := kubefake.NewClientset(
		volumeOf("pv-0", "rook-ceph.rbd.csi.ceph.com", teardowntest.Handle(uuids[0]), nil),
		volumeOf("pv-1", "openshift-storage.cephfs.csi.ceph.com", "static", map[string]string{"rootPath": "/volumes/csi/csi-vol-" + uuids[1] + "/x"}),
		volumeOf("pv-2", "block.example.com", teardowntest.Handle(uuids[2]), nil),
		before("pv-3", corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: "ceph.rook.io/rook", Options: map[string]string{"image": "csi-vol-" + uuids[3]}}}),
		before("pv-4", corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: "ceph.rook.io/rook", Options: map[string]string{"fsName": "f", "path": "/volumes/csi/csi-vol-" + uuids[4]}}}),
		before("pv-5", corev1.PersistentVolumeSource{RBD: &corev1.RBDPersistentVolumeSource{RBDImage: "csi-vol-" + uuids[5]}}),
		volumeOf("pv-6", driver.RBD.Name, teardowntest.Handle(uuids[7]), nil),
	)
	objects := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ctrl.SnapshotContents: "VolumeSnapshotContentList"},
		object("Infrastructure", "config.openshift.io/v1", "cluster", map[string]any{"status": map[string]any{"infrastructureName": "b"}}),
		object("VolumeSnapshotContent", "snapshot.storage.k8s.io/v1", "c-6", map[string]any{
			"spec": map[string]any{"driver": "rook-ceph.rbd.csi.ceph.com"}, "status": map[string]any{"snapshotHandle": teardowntest.Handle(uuids[6])},
		}),
	)
	cluster, err := ReadLiving(t.Context(), kube, objects)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"PersistentVolume pv-0 of rook-ceph.rbd.csi.ceph.com in cluster b", "PersistentVolume pv-1 of openshift-storage.cephfs.csi.ceph.com in cluster b",
		"PersistentVolume pv-2 of block.example.com in cluster b", "PersistentVolume pv-3 of flexVolume ceph.rook.io/rook in cluster b",
		"PersistentVolume pv-4 of flexVolume ceph.rook.io/rook in cluster b", "PersistentVolume pv-5 of in-tree rbd in cluster b",
		"VolumeSnapshotContent c-6 of rook-ceph.rbd.csi.ceph.com in cluster b", "",
	} {
		item := Item{UUID: uuids[i], Name: "csi-vol-" + uuids[i]}
		if got := cluster.Others.Names(item); got != want {
			t.Errorf("volume %d is named by %q, want %q", i, got, want)
		}
		if got := cluster.Ours.Names(item); (got == "") != (want != "") {
			t.Errorf("volume %d is taken for the operator's own: %q", i, got)
		}
	}
}

func TestReadLivingErrors(t *testing.T) {
	for name, infrastructure := range map[string]*unstructured.Unstructured{
		"Missing":  object("Infrastructure", "config.openshift.io/v1", "other", map[string]any{}),
		"Nameless": object("Infrastructure", "config.openshift.io/v1", "cluster", map[string]any{}),
	} {
		objects := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), infrastructure)
		if _, err := ReadLiving(t.Context(), kubefake.NewClientset(), objects); err == nil {
			t.Errorf("%s: no error, though it is not known whose volumes these are", name)
		}
	}
}

func TestParseHandles(t *testing.T) {
	a, b := teardowntest.UUID(), teardowntest.UUID()
	living := ParseHandles("# comment\n\n"+teardowntest.Handle(a)+"\n  "+teardowntest.Handle(b)+" pv-b\nstatic-image\r\n", "file")
	for item, want := range map[Item]string{{UUID: a}: "file", {UUID: b}: "PersistentVolume pv-b in file", {Name: "static-image"}: "file", {Name: "#"}: ""} {
		if got := living.Names(item); got != want {
			t.Errorf("%+v is named by %q, want %q", item, got, want)
		}
	}
	if n := ParseHandles("# nothing\n", "file").Len(); n != 0 {
		t.Errorf("an empty list has %d names", n)
	}
}

func TestOrphans(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	item := func(name string, days int, change func(*Item)) Decision {
		d := Decision{Item{Kind: Subvolume, Name: name, Tag: "a", PV: "pvc-" + name, Created: now.AddDate(0, 0, -days)}, Remove, "proof"}
		if change != nil {
			change(&d.Item)
		}
		return d
	}
	retained := item("retained", 9, func(i *Item) { i.Retain = true })
	trashed := item("trashed", 9, func(i *Item) { i.Trash = true })
	ageless := item("ageless", 9, func(i *Item) { i.Created = time.Time{} })
	doubtful := item("doubtful", 2, nil)
	doubtful.Verdict, doubtful.Reason = Refuse, "no journal names it"
	part := &shelf{found: Findings{Decisions: []Decision{
		item("old", 9, nil), item("young", 0, nil), item("used", 9, nil), item("rooks", 9, nil), retained, trashed, ageless, doubtful,
		item("foreign", 9, func(i *Item) { i.Tag = "b" }), item("user", 9, func(i *Item) { i.Kind = User }),
	}}}
	config := OrphansConfig{
		Options: Options{
			InfraID: "a", Ours: func(i Item) bool { return i.Name == "used" },
			Claimed: func(i Item) string {
				return map[string]string{"rooks": "PersistentVolume pv of rook.rbd.csi.ceph.com in cluster a"}[i.Name]
			},
		},
		Parts: []Part{part}, OlderThan: 24 * time.Hour, Now: now, Out: &bytes.Buffer{},
	}
	report, err := Orphans(t.Context(), config)
	if err != nil || len(part.removed) > 0 {
		t.Fatalf("%v, removed %q", err, part.removed)
	}
	want := map[string]string{
		"old": "9 days old; it may be wanted", "retained": "reclaimPolicy Retain", "trashed": "waits in the trash",
		"ageless": "of unknown age", "doubtful": "no journal names it",
	}
	for name, reason := range want {
		if !slices.ContainsFunc(report.Items, func(l Line) bool { return l.Name == name && strings.Contains(l.Reason, reason) }) {
			t.Errorf("%s (%s) is not in %+v", name, reason, report.Items)
		}
	}
	if len(report.Items) != len(want) {
		t.Errorf("%d orphans in %+v", len(report.Items), report.Items)
	}
	config.Ours = nil
	if _, err := Orphans(t.Context(), config); err == nil {
		t.Error("without the cluster's objects, everything would be an orphan")
	}
	config.InfraID = " "
	if _, err := Orphans(t.Context(), config); !errors.Is(err, ErrNoInfraID) {
		t.Errorf("without an infra ID: %v", err)
	}
}
