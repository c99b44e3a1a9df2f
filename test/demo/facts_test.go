package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	controllerAvailable = "CephRBDDriverControllerServiceControllerAvailable"
	nodeAvailable       = "CephRBDDriverNodeServiceControllerAvailable"
	key                 = "AQDsecretsecretsecretsecretsecretsecret=="
)

func held(conditionType string, status operatorv1.ConditionStatus) operatorv1.OperatorCondition {
	return operatorv1.OperatorCondition{Type: conditionType, Status: status, Reason: "Why", Message: "what is wrong"}
}

// working is a driver of which everything is there.
func working() seen {
	d := driver.RBD
	return seen{
		cluster: &state.Cluster{FSID: "f", Monitors: []string{"10.0.0.1:6789", "10.0.0.2:6789"}},
		secrets: map[string]*corev1.Secret{
			d.ConfigSecret():      {Data: map[string][]byte{"config.json": []byte("[]")}},
			d.ProvisionerSecret(): {Data: map[string][]byte{"userID": []byte("admin"), "userKey": []byte(key)}},
			d.NodeSecret():        {Data: map[string][]byte{"userID": []byte("admin"), "userKey": []byte(key)}},
		},
		place:         "Ceph has pool p",
		controller:    &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 2}},
		node:          &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 8, NumberReady: 8, UpdatedNumberScheduled: 8}},
		class:         &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{defaultClassAnnotation: "true"}}},
		snapshotClass: true,
		conditions: []operatorv1.OperatorCondition{
			held(controllerAvailable, operatorv1.ConditionTrue), held(nodeAvailable, operatorv1.ConditionTrue),
			held("XProgressing", operatorv1.ConditionFalse), held("XDegraded", operatorv1.ConditionFalse),
		},
	}
}

func TestFactsOfAWorkingDriver(t *testing.T) {
	var got []string
	for _, f := range facts(driver.RBD, working()) {
		if f.text != "" {
			got = append(got, f.about+" "+f.text)
		}
	}
	want := []string{
		"connection to Ceph cluster f, mons 10.0.0.1:6789, 10.0.0.2:6789",
		"Secret ceph-rbd-csi-config has the mon addresses",
		"Secret ceph-rbd-csi-provisioner has Ceph user client.admin",
		"Secret ceph-rbd-csi-node has Ceph user client.admin",
		"place of volumes: Ceph has pool p",
		"Deployment ceph-rbd-csi-driver-controller ready 2/2",
		"DaemonSet ceph-rbd-csi-driver-node ready 8/8",
		"StorageClass ceph-rbd exists, the default of the cluster",
		"VolumeSnapshotClass csi-ceph-rbd-vsc exists",
		"Available is True",
		"Progressing is False",
		"Degraded is False",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(got, ""), key) {
		t.Error("a key was printed")
	}
}

func TestNothingIsTold(t *testing.T) {
	for _, f := range facts(driver.RBD, seen{}) {
		if f.text != "" {
			t.Errorf("nothing is there, but: %s %s", f.about, f.text)
		}
	}
}

func TestUnready(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*seen)
		want   []string
	}{
		"Ready": {reason: "all is there", change: func(*seen) {}},
		"Progressing": {
			reason: "the end of the rollouts is part of the story",
			change: func(s *seen) { s.conditions[2].Status = operatorv1.ConditionTrue },
			want:   []string{"Progressing, which is True"},
		},
		"Place":   {reason: "Ceph has its own say", change: func(s *seen) { s.place = "" }},
		"NoClass": {reason: "a driver without class is of no use", change: func(s *seen) { s.class = nil }, want: []string{"StorageClass ceph-rbd"}},
		"Pods": {
			reason: "both workloads count",
			change: func(s *seen) { s.controller.Status.ReadyReplicas, s.node.Status.NumberReady = 1, 7 },
			want:   []string{"Deployment ceph-rbd-csi-driver-controller, which waits for its pods", "DaemonSet ceph-rbd-csi-driver-node, which waits for its pods"},
		},
		"NotObserved": {
			reason: "a status that speaks of an older spec",
			change: func(s *seen) { s.node.Generation = 2 },
			want:   []string{"DaemonSet ceph-rbd-csi-driver-node, which waits for its pods"},
		},
		"Rollout": {
			reason: "all are ready, but one is of yesterday",
			change: func(s *seen) { s.controller.Status.UpdatedReplicas, s.node.Status.UpdatedNumberScheduled = 1, 7 },
			want:   []string{"Deployment ceph-rbd-csi-driver-controller, which waits for its pods", "DaemonSet ceph-rbd-csi-driver-node, which waits for its pods"},
		},
		"NoNodes": {
			reason: "none of none is not ready",
			change: func(s *seen) { s.node.Status = appsv1.DaemonSetStatus{} },
			want:   []string{"DaemonSet ceph-rbd-csi-driver-node, which waits for its pods"},
		},
		"Disabled": {
			reason: "disabled is told with its reason",
			change: func(s *seen) { s.conditions = append(s.conditions, held("Disabled", operatorv1.ConditionTrue)) },
			want:   []string{"Disabled, which is True: Why: what is wrong"},
		},
		"OneReported": {
			reason: "the Deployment must not speak for the DaemonSet",
			change: func(s *seen) { s.conditions = slices.Delete(s.conditions, 1, 2) },
			want:   []string{"Available"},
		},
		"Degraded": {
			reason: "the message says what to do",
			change: func(s *seen) { s.conditions[3].Status = operatorv1.ConditionTrue },
			want:   []string{"Degraded, which is True: X, Why: what is wrong"},
		},
		"NoConfig": {
			reason: "a Secret without content does not count",
			change: func(s *seen) { s.secrets[driver.RBD.ConfigSecret()].Data = nil },
			want:   []string{"Secret ceph-rbd-csi-config"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := working()
			tc.change(&s)
			if diff := cmp.Diff(tc.want, unready(driver.RBD, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	const suffix = "Degraded"
	tests := map[string]struct {
		reason     string
		conditions []operatorv1.OperatorCondition
		want       string
		causes     int
	}{
		"None":     {reason: "nobody has reported", conditions: []operatorv1.OperatorCondition{held("Available", operatorv1.ConditionTrue)}},
		"Good":     {reason: "all say no", conditions: []operatorv1.OperatorCondition{held("ADegraded", operatorv1.ConditionFalse)}, want: "is False"},
		"OneFirst": {reason: "one is enough", conditions: []operatorv1.OperatorCondition{held("ADegraded", operatorv1.ConditionTrue), held("BDegraded", operatorv1.ConditionFalse)}, want: "is True", causes: 1},
		"OneLast":  {reason: "in any order", conditions: []operatorv1.OperatorCondition{held("ADegraded", operatorv1.ConditionFalse), held("BDegraded", operatorv1.ConditionTrue)}, want: "is True", causes: 1},
		"Both":     {reason: "all causes are named", conditions: []operatorv1.OperatorCondition{held("ADegraded", operatorv1.ConditionTrue), held("BDegraded", operatorv1.ConditionTrue)}, want: "is True", causes: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, causes := union(tc.conditions, suffix, operatorv1.ConditionTrue)
			if got != tc.want || len(causes) != tc.causes {
				t.Errorf("%s: got %q with causes %q, want %q with %d", tc.reason, got, causes, tc.want, tc.causes)
			}
		})
	}
}
