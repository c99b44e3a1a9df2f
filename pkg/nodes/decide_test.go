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
	const noPod = "no pod has been made; the events of DaemonSet ns/nodes say why"
	const yes, no, unknown = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	windows := node("w", yes)
	windows.Labels[corev1.LabelOSStable] = "windows"
	other, kept, gpu, cordoned := node("o", yes), node("k", yes), node("g", yes), node("c", yes)
	other.Labels["storage"], kept.Labels["storage"] = "none", "ceph"
	gpu.Labels["storage"] = "ceph"
	gpu.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	broken := node("u", yes)
	cordoned.Spec.Unschedulable, broken.Spec.Unschedulable = true, true
	cordoned.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, {Key: "x", Effect: corev1.TaintEffectPreferNoSchedule}}
	tests := map[string]struct {
		reason string
		nodes  []corev1.Node
		pods   []corev1.Pod
		want   []Unserved
		left   []string
	}{
		"Served":    {"all is well", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", yes)}, nil, nil},
		"Elsewhere": {"no pod is wanted there", []corev1.Node{windows}, nil, nil, nil},
		"LeftOut": {
			"settings want none there", []corev1.Node{windows, other, gpu, kept}, []corev1.Pod{pod("k", yes)}, nil, []string{"g (taint gpu:NoSchedule)", `o (label storage is not "ceph")`},
		},
		"LeftOutAway": {"it would be left out, too, if it were ready", []corev1.Node{{ObjectMeta: other.ObjectMeta}}, nil, nil, []string{`o (label storage is not "ceph")`}},
		"Leaving":     {"its pod ends, and mounts still", []corev1.Node{other, gpu}, []corev1.Pod{pod("o", yes)}, nil, []string{"g (taint gpu:NoSchedule)"}},
		"Cordoned": {
			"pods of DaemonSets tolerate what says how a node is; no other pod comes there", []corev1.Node{cordoned}, nil,
			[]Unserved{{Node: "c", Why: noPod + "; the node is cordoned", Cordoned: true}}, nil,
		},
		"CordonedUnregistered": {
			"somebody looks what is wrong with it", []corev1.Node{broken}, []corev1.Pod{pod("u", yes)},
			[]Unserved{{Node: "u", Why: "the kubelet does not know the driver (no entry in its CSINode), although pod pod-u is ready; the node is cordoned", Unregistered: true, Cordoned: true}}, nil,
		},
		"NoPod": {"a new node", []corev1.Node{node("a", yes)}, nil, []Unserved{{"a", noPod, false, false, false}}, nil},
		"Silent": {
			"the node controller marks its pods, too", []corev1.Node{node("b", unknown), node("a", no)}, []corev1.Pod{pod("b", no)},
			[]Unserved{{"a", "the node is not ready", true, false, false}, {"b", "the node is not ready", true, false, false}}, nil,
		},
		"Replaced": {
			"the pod before it is still ending", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", yes), pod("a", no)}, nil, nil,
		},
		"Crashing": {
			"what it said last", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("CrashLoopBackOff", "back-off 5m0s", &corev1.ContainerStateTerminated{Message: "starting\nmodprobe failed\n", ExitCode: 1}))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: CrashLoopBackOff, ended with modprobe failed", false, false, false}}, nil,
		},
		"Mute": {
			"it said nothing", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("CrashLoopBackOff", "back-off", &corev1.ContainerStateTerminated{ExitCode: 139}))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: CrashLoopBackOff, ended with exit code 139", false, false, false}}, nil,
		},
		"NoImage": {
			"a registry that refuses", []corev1.Node{node("a", yes)}, []corev1.Pod{pod("a", no, waiting("ImagePullBackOff", strings.Repeat("x", 300), nil))},
			[]Unserved{{"a", "container csi-driver of pod pod-a: ImagePullBackOff, " + strings.Repeat("x", 200) + "…", false, false, false}}, nil,
		},
		"Unregistered": {
			"its kubelet refused the socket, or lost it", []corev1.Node{node("u", yes), node("a", yes)}, []corev1.Pod{pod("u", yes), pod("a", yes)},
			[]Unserved{{"u", "the kubelet does not know the driver (no entry in its CSINode), although pod pod-u is ready", false, true, false}}, nil,
		},
		"UnregisteredAway": {
			"the kubelet is gone, the pod is not marked yet", []corev1.Node{node("u", no)}, []corev1.Pod{pod("u", yes)},
			[]Unserved{{"u", "the node is not ready", true, false, false}}, nil,
		},
		"Starting": {
			"nothing is wrong yet", []corev1.Node{node("a", yes)},
			[]corev1.Pod{pod("a", no, waiting("ContainerCreating", "", nil), corev1.ContainerStatus{Name: "liveness"})},
			[]Unserved{{"a", "not ready in pod pod-a: csi-driver, liveness", false, false, false}}, nil,
		},
		"Full": {
			"the scheduler has no room", []corev1.Node{node("a", yes)}, []corev1.Pod{pending("a", "Insufficient memory")},
			[]Unserved{{"a", "pod pod-a is not scheduled: Insufficient memory", false, false, false}}, nil,
		},
	}
	daemonSet := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nodes"}}
	daemonSet.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	narrow := daemonSet.DeepCopy()
	daemonSet.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	narrow.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}}
	narrow.Spec.Template.Spec.NodeSelector["storage"] = "ceph"
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := daemonSet
			if tc.left != nil {
				pods = narrow
			}
			wanted, narrowed := map[string]int{"Elsewhere": 0, "LeftOut": 1, "LeftOutAway": 0, "Leaving": 0}[name]
			if !narrowed {
				wanted = len(tc.nodes)
			}
			if diff := cmp.Diff(Found{tc.want, wanted, tc.left, name == "Leaving"}, find(pods, tc.nodes, tc.pods, func(node string) bool { return node != "u" })); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLeftOutBy(t *testing.T) {
	const infra = "node-role.kubernetes.io/infra"
	pods := corev1.PodSpec{NodeSelector: map[string]string{infra: "", "storage": "ceph"}, Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}}
	both := map[string]string{infra: "", "storage": "ceph"}
	for name, tc := range map[string]struct {
		reason string
		labels map[string]string
		taints []corev1.Taint
		want   string
	}{
		"Wanted":    {"it has all, and what it has besides is tolerated", both, []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoExecute}}, ""},
		"NoLabel":   {"roles are labels without a value", map[string]string{"storage": "ceph"}, nil, "no label " + infra},
		"Other":     {"it may be a misspelling", map[string]string{infra: "", "storage": "cehp"}, nil, `label storage is not "ceph"`},
		"Taint":     {"as kubectl shows it", both, []corev1.Taint{{Key: "db", Value: "x", Effect: corev1.TaintEffectNoSchedule}}, "taint db=x:NoSchedule"},
		"Condition": {"a DaemonSet's pods tolerate that", both, []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}, ""},
	} {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}, Spec: corev1.NodeSpec{Taints: tc.taints}}
		if got := leftOutBy(pods, node); got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

func TestNarrowed(t *testing.T) {
	all := []corev1.Toleration{{Key: "x"}, {Operator: corev1.TolerationOpExists}}
	for name, tc := range map[string]struct {
		reason string
		pod    corev1.PodSpec
		want   bool
	}{
		"Default":  {"Linux, whatever the taints", corev1.PodSpec{NodeSelector: map[string]string{corev1.LabelOSStable: "linux"}, Tolerations: all}, false},
		"Selector": {"some nodes", corev1.PodSpec{NodeSelector: map[string]string{corev1.LabelOSStable: "linux", "a": "b"}, Tolerations: all}, true},
		"Taints":   {"nodes with others are left out", corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists}}}, true},
		"Effect":   {"those that evict are left out", corev1.PodSpec{Tolerations: []corev1.Toleration{{Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists}}}, true},
	} {
		if got := narrowed(tc.pod); got != tc.want {
			t.Errorf("%s: %s: %t", name, tc.reason, got)
		}
	}
}

func TestLeftOutMessage(t *testing.T) {
	for want, names := range map[string][]string{
		"": nil,
		"1 of 3 nodes have no driver d, because ceph.node leaves them out: a":                        {"a"},
		"7 of 9 nodes have no driver d, because ceph.node leaves them out: a, b, c, d, e and 2 more": strings.Split("abcdefg", ""),
	} {
		if got := leftOutMessage("d", Found{Wanted: 2, LeftOut: names}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
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
