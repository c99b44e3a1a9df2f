package onnodes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestPrivateOf(t *testing.T) {
	first, second := strings.Repeat("a", 64), strings.Repeat("0", 64)
	text := strings.Join([]string{
		"/proc/1/status:RssAnon:\t     900 kB",
		"/proc/7/status:RssAnon:\t     100 kB",
		"/proc/8/status:RssAnon:\t      20 kB",
		"/proc/90/status:RssAnon:\t     3 kB",
		"grep: /proc/91/status: No such file or directory",
		"/proc/1/cgroup:4:memory:/node-0",
		"/proc/7/cgroup:4:memory:/node-0/kubepods/burstable/pod2/" + first,
		"/proc/7/cgroup:0::/kubepods/burstable/pod2/" + first,
		"/proc/8/cgroup:4:memory:/node-0/kubepods/burstable/pod2/" + first,
		"/proc/90/cgroup:4:memory:/node-0/kubepods/pod3/" + second,
	}, "\n")
	if diff := cmp.Diff(map[string]int{first: 120 * kibibyte, second: 3 * kibibyte}, privateOf(text)); diff != "" {
		t.Error(diff)
	}
}

func TestUnavailable(t *testing.T) {
	available := func(of string, status operatorv1.ConditionStatus) operatorv1.OperatorCondition {
		return operatorv1.OperatorCondition{Type: of + "Available", Status: status, Message: "1 of 2 pods"}
	}
	tests := map[string]struct {
		reason     string
		conditions []operatorv1.OperatorCondition
		want       string
	}{
		"Both":  {"controllers and nodes", []operatorv1.OperatorCondition{available("Controller", "True"), available("Node", "True"), {Type: "Degraded", Status: "True"}}, ""},
		"One":   {"the other has not reported", []operatorv1.OperatorCondition{available("Controller", "True")}, "not one for each"},
		"False": {"its pods are to come", []operatorv1.OperatorCondition{available("Controller", "False"), available("Node", "True")}, "ControllerAvailable is False: 1 of 2 pods"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := unavailable(tc.conditions)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestInUse(t *testing.T) {
	volume := &corev1.CSIPersistentVolumeSource{Driver: "rbd.csi.ceph.com", VolumeHandle: "0001-a"}
	using := func(names ...corev1.UniqueVolumeName) corev1.Node {
		return corev1.Node{Status: corev1.NodeStatus{VolumesInUse: names}}
	}
	tests := map[string]struct {
		reason string
		nodes  []corev1.Node
		want   bool
	}{
		"Second":       {"the pod may be anywhere", []corev1.Node{using(), using("kubernetes.io/csi/rbd.csi.ceph.com^0001-a")}, true},
		"None":         {"no status since the pod came", []corev1.Node{using(), using()}, false},
		"OtherVolume":  {"another pod's", []corev1.Node{using("kubernetes.io/csi/rbd.csi.ceph.com^0001-ab")}, false},
		"OtherDriver":  {"handles are a driver's", []corev1.Node{using("kubernetes.io/csi/cephfs.csi.ceph.com^0001-a")}, false},
		"WithoutNodes": {"they are to come", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := inUse(tc.nodes, volume); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
