package nodes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func node(name string, status corev1.ConditionStatus) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelOSStable: "linux"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}},
	}
}

func pod(on string, status corev1.ConditionStatus, containers ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod-" + on},
		Spec:       corev1.PodSpec{NodeName: on},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: containers,
		},
	}
}

// pending is a pod that the scheduler cannot put on its node.
func pending(on, why string) corev1.Pod {
	out := pod("", corev1.ConditionFalse)
	out.Name = "pod-" + on
	out.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{on}},
		}}},
	}}}
	out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: why})
	return out
}

func waiting(reason, message string, ended *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: "csi-driver", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		LastTerminationState: corev1.ContainerState{Terminated: ended},
	}
}

func TestFind(t *testing.T) {
	const yes, no, unknown = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	windows := node("w", yes)
	windows.Labels[corev1.LabelOSStable] = "windows"
	tests := map[string]struct {
		reason string
		nodes  []corev1.Node
		pods   []corev1.Pod
		want   []Unserved
	}{
		"Served":    {"all is well", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", yes)}, nil},
		"Elsewhere": {"no pod is wanted there", []corev1.Node{windows}, nil, nil},
		"NoPod":     {"a new node", []corev1.Node{node("a", yes)}, nil, []Unserved{{"a", "no pod has been made", false, false}}},
		"Silent": {
			"the node controller marks its pods, too", []corev1.Node{node("b", unknown), node("a", no)}, []corev1.Pod{pod("b", no)},
			[]Unserved{{"a", "the node is not ready", true, false}, {"b", "the node is not ready", true, false}},
		},
		"Replaced": {
			"the pod before it is still ending", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", yes), pod("a", no)}, nil,
		},
		"Crashing": {
			"what it said last", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("CrashLoopBackOff", "back-off 5m0s", &corev1.ContainerStateTerminated{Message: "starting\nmodprobe failed\n", ExitCode: 1}))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: CrashLoopBackOff, ended with modprobe failed", false, false}},
		},
		"Mute": {
			"it said nothing", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{ExitCode: 139}))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: CrashLoopBackOff, ended with exit code 139", false, false}},
		},
		"NoImage": {
			"a registry that refuses", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", no, waiting("ImagePullBackOff", strings.Repeat("x", 300), nil))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: ImagePullBackOff, " + strings.Repeat("x", 200) + "…", false, false}},
		},
		"Unregistered": {
			"its kubelet refused the socket, or lost it", []corev1.Node{node("u", yes), node("a", yes)}, []corev1.Pod{pod("u", yes), pod("a", yes)},
			[]Unserved{{"u", "the kubelet does not know the driver (no entry in its CSINode), although pod pod-u is ready", false, true}},
		},
		"UnregisteredAway": {
			"the kubelet is gone, the pod is not marked yet", []corev1.Node{node("u", no)}, []corev1.Pod{pod("u", yes)},
			[]Unserved{{"u", "the node is not ready", true, false}},
		},
		"Starting": {
			"nothing is wrong yet", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("ContainerCreating", "", nil), corev1.ContainerStatus{Name: "liveness"})},
			[]Unserved{{"a", "not ready in pod pod-a: csi-driver, liveness", false, false}},
		},
		"Full": {
			"the scheduler has no room", []corev1.Node{node("a", yes)}, []corev1.Pod{pending("a", "Insufficient memory")},
			[]Unserved{{"a", "pod pod-a is not scheduled: Insufficient memory", false, false}},
		},
	}
	daemonSet := &appsv1.DaemonSet{}
	daemonSet.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, find(daemonSet, tc.nodes, tc.pods, func(node string) bool { return node != "u" })); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	var many []Unserved
	for _, name := range strings.Split("abcdefg", "") {
		many = append(many, Unserved{Node: name, Why: "no pod has been made"})
	}
	const want = "7 of 9 nodes cannot mount volumes of d:\na: no pod has been made\nb: no pod has been made\nc: no pod has been made\nd: no pod has been made\ne: no pod has been made\nand 2 more"
	if got := message("d", 9, many); got != want {
		t.Errorf("got %q", got)
	}
}
