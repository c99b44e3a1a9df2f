package check

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

const fsid = "7b2fc1c0-6f4c-4d5c-9a5d-0d6a2b6f9d11"

func told[T any](value T) fact[T] { return fact[T]{value: value, asked: true} }

func failed[T any](text string) fact[T] { return fact[T]{err: errors.New(text), asked: true} }

func said(kind, status, reason, message string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
}

func resource(name string, conditions ...any) fact[*unstructured.Unstructured] {
	o := object("operator.openshift.io/v1", "ClusterCSIDriver", name, "status", map[string]any{"conditions": conditions})
	o.Object["spec"] = map[string]any{"managementState": "Managed"}
	return told(o)
}

func document(t *testing.T, text string) fact[*status.Document] {
	t.Helper()
	doc, err := status.Read(&corev1.ConfigMap{Data: map[string]string{"status.yaml": text}})
	if err != nil {
		t.Fatal(err)
	}
	return told(&doc)
}

func event(minute int, reason, kind, name, message string) corev1.Event {
	return corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: reason},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Reason: reason, Message: message,
		LastTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 10, minute, 0, 0, time.UTC)),
	}
}

// well is what is seen of a cluster in which all is well.
func well(t *testing.T) seen {
	t.Helper()
	daemonSet := &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, NumberReady: 3}}
	s := seen{
		now: time.Date(2026, 1, 2, 10, 30, 15, 0, time.UTC), drivers: driver.All, version: told("v1.36.0"),
		infrastructure: told(object("config.openshift.io/v1", "Infrastructure", "cluster", "status", map[string]any{"infrastructureName": "demo-x7k2p"})),
		events: told([]corev1.Event{
			event(29, "CephPoolProtected", "Deployment", "ceph-rbd-csi-driver-operator", `Pool "vms" is in use and can no longer be removed`),
			event(20, "ConfigMapCreated", "Deployment", "ceph-cephfs-csi-driver-operator", "Created ConfigMap/a"),
		}),
		resources: map[string]fact[*unstructured.Unstructured]{},
		daemonSets: map[string]fact[*appsv1.DaemonSet]{
			driver.RBD.Name: told(daemonSet), driver.CephFS.Name: told(daemonSet),
		},
		status: map[string]fact[*status.Document]{
			driver.RBD.Name:    document(t, "volumes: 12\nlegacyVolumes: 2\ncephClusters: [{fsid: "+fsid+", pools: {inUse: [vms, vms-data]}}, {fsid: other, pools: {inUse: [far]}}]"),
			driver.CephFS.Name: document(t, "volumes: 3\ncephClusters: [{fsid: "+fsid+", filesystems: [myfs]}]"),
		},
		ceph: seenCeph{
			user:    "csi-operator",
			monMap:  told(ceph.MonMap{FSID: fsid, Epoch: 5, Mons: []ceph.Mon{{Name: "a"}, {Name: "b"}, {Name: "c"}}}),
			version: told("18.2.4"), quorum: told([]string{"a", "b", "c"}),
			pools: told([]ceph.Capacity{
				{PoolID: 1, Pool: ".mgr", Available: 1 << 40}, {PoolID: 2, Pool: "vms", Stored: 3 << 40, Available: 1 << 40},
				{PoolID: 3, Pool: "vms-data", Stored: 999, Available: 5 << 30}, {PoolID: 4, Pool: "myfs-meta", Available: 1 << 30},
				{PoolID: 5, Pool: "myfs-data", Stored: 1 << 30, Available: 1 << 30},
			}),
			filesystemPools: told([]ceph.FilesystemPools{{Filesystem: "myfs", Metadata: "myfs-meta", Data: []string{"myfs-data"}}}),
		},
	}
	for _, d := range driver.All {
		s.resources[d.Name] = resource(d.Name, said("NodeAvailable", "True", "AsExpected", ""), said("NodeDegraded", "False", "", ""),
			said("CredentialsMinted", "False", "Passthrough", "works"), said("VolumesSafe", "True", "AsExpected", ""))
	}
	return s
}

// screens are compared with testdata/screens; UPDATE_GOLDEN=1 rewrites them.
var screens = map[string]struct {
	width, height int
	change        func(t *testing.T, s *seen)
}{
	"well":   {width: 120, height: 40, change: func(*testing.T, *seen) {}},
	"narrow": {width: 60, height: 14, change: func(*testing.T, *seen) {}},
	"sick": {width: 160, height: 40, change: func(t *testing.T, s *seen) {
		s.ceph.quorum = told([]string{"a", "c"})
		s.ceph.monMap.value.NeverJoined = []string{"d"}
		s.ceph.pools.value = s.ceph.pools.value[:3]
		s.resources[driver.RBD.Name] = resource(driver.RBD.Name, said("NodeAvailable", "False", "Deploying", "waiting for\npods"),
			said("NodesServed", "False", "NodesNotServed", "1 of 3 nodes cannot mount volumes"), said("LegacyVolumes", "True", "OlderVolumes", "2 volumes"))
		s.resources[driver.CephFS.Name] = resource(driver.CephFS.Name, said("Disabled", "True", "NoFilesystem", "there is none"))
		s.daemonSets[driver.CephFS.Name] = told[*appsv1.DaemonSet](nil)
		s.events = told[[]corev1.Event](nil)
	}},
	"blind": {width: 160, height: 40, change: func(t *testing.T, s *seen) {
		s.infrastructure = failed[*unstructured.Unstructured]("forbidden")
		s.ceph = seenCeph{user: "csi-operator", connected: true, monMap: failed[ceph.MonMap]("no answer in time")}
		s.events = failed[[]corev1.Event]("forbidden")
		s.resources[driver.RBD.Name] = failed[*unstructured.Unstructured]("forbidden")
		s.status[driver.CephFS.Name] = failed[*status.Document]("forbidden")
		s.daemonSets[driver.CephFS.Name] = failed[*appsv1.DaemonSet]("forbidden")
	}},
	"half-blind": {width: 160, height: 40, change: func(t *testing.T, s *seen) {
		s.ceph.quorum, s.ceph.version = failed[[]string]("denied"), failed[string]("denied")
		s.ceph.filesystemPools = failed[[]ceph.FilesystemPools]("denied")
		s.status[driver.RBD.Name] = failed[*status.Document]("forbidden")
	}},
	"nobody": {width: 160, height: 40, change: func(t *testing.T, s *seen) {
		*s = seen{now: s.now, drivers: s.drivers, version: failed[string]("connection refused"), ceph: s.ceph}
	}},
	"before": {width: 160, height: 40, change: func(t *testing.T, s *seen) {
		for _, d := range driver.All {
			s.resources[d.Name], s.status[d.Name], s.daemonSets[d.Name] = told[*unstructured.Unstructured](nil), told[*status.Document](nil), told[*appsv1.DaemonSet](nil)
		}
		s.events.value, s.ceph = nil, seenCeph{monMap: fact[ceph.MonMap]{err: errNotDeclared, asked: true}}
	}},
}

func TestScreens(t *testing.T) {
	for name, tc := range screens {
		t.Run(name, func(t *testing.T) {
			s := well(t)
			tc.change(t, &s)
			lines := s.lines(tc.width, tc.height)
			for _, line := range lines {
				if utf8.RuneCountInString(line) > tc.width || strings.Contains(line, "\n") {
					t.Errorf("does not fit: %q", line)
				}
			}
			if len(lines) > tc.height {
				t.Errorf("%d lines, %d fit", len(lines), tc.height)
			}
			file := filepath.Join("testdata", "screens", name+".txt")
			got := strings.Join(lines, "\n") + "\n"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
				t.Errorf("%v (-golden +shown)\n%s", err, diff)
			}
		})
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 3 << 40: "3.0 TiB", 1 << 63: "8.0 EiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d is %s, want %s", bytes, got, want)
		}
	}
}
