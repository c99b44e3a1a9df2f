package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Unserved is a node on which volumes cannot be mounted.
type Unserved struct {
	Node string
	// Why is for people.
	Why string
	// Away says that the node itself is not ready: no pod can be replaced there.
	Away bool
	// Unregistered says that the pod is ready, and the kubelet does not know the driver: nothing is to be
	// rolled out there.
	Unregistered bool
	// Cordoned says that an administrator keeps pods away from the node: neither a rollout nor a version waits for it.
	Cordoned bool
}

// Found is what a look at all nodes has found.
type Found struct {
	Unserved []Unserved
	// Wanted is how many nodes are to have a pod.
	Wanted int
	// LeftOut are the nodes of Linux that the node selector or the tolerations of the pods leave out, each with what does so.
	LeftOut []string
	// Leaving says that pods are still on such nodes: nobody tells when the last of them has ended.
	Leaving bool
}

// Report counts those that are to have a node pod, and those that settings leave out.
type Report struct {
	// Served ones can mount volumes.
	Served int
	// NotServed ones cannot, though they are ready.
	NotServed int
	// NotReady ones are away themselves, or cordoned.
	NotReady int
	// LeftOut ones are to have no node pod, although they run Linux.
	LeftOut int
}

// find looks at each node that is to have a pod:
//
//	node       pod                  unserved
//	any        ready, registered    no
//	left out   none                 no
//	ready      ready, unknown       the kubelet does not know the driver
//	not ready  none, or not ready   the node is not ready
//	ready      none                 no pod yet
//	ready      not ready            what its containers wait for
//
// registered says whether the kubelet of a node knows the driver: it mounts nothing before.
func find(daemonSet *appsv1.DaemonSet, nodes []corev1.Node, pods []corev1.Pod, registered func(node string) bool) Found {
	podOn := map[string]corev1.Pod{}
	for _, pod := range pods {
		if held, found := podOn[place(pod)]; !found || !ready(held) {
			podOn[place(pod)] = pod
		}
	}
	var out Found
	for _, node := range nodes {
		pod, found := podOn[node.Name]
		leftOut := leftOutBy(daemonSet.Spec.Template.Spec, node)
		wanted := leftOut == ""
		out.Leaving = out.Leaving || found && !wanted
		if wanted {
			out.Wanted++
		}
		switch {
		case found && ready(pod) && registered(node.Name):
		case !found && !wanted:
			if node.Labels[corev1.LabelOSStable] == linux {
				out.LeftOut = append(out.LeftOut, node.Name+" ("+leftOut+")")
			}
		default:
			out.Unserved = append(out.Unserved, unserved(daemonSet, node, pod, found))
		}
	}
	slices.SortFunc(out.Unserved, byNode)
	slices.Sort(out.LeftOut)
	return out
}

func byNode(a, b Unserved) int { return cmp.Compare(a.Node, b.Node) }

// unserved tells of a node that is to have a pod, and of the one that it has, if there is one.
func unserved(daemonSet *appsv1.DaemonSet, node corev1.Node, pod corev1.Pod, found bool) Unserved {
	out := Unserved{Node: node.Name, Cordoned: node.Spec.Unschedulable}
	switch {
	case !nodeReady(node):
		return Unserved{Node: node.Name, Why: "the node is not ready", Away: true}
	case !found:
		out.Why = fmt.Sprintf("no pod has been made; the events of DaemonSet %s/%s say why", daemonSet.Namespace, daemonSet.Name)
	case ready(pod):
		out.Why = fmt.Sprintf("the kubelet does not know the driver (no entry in its CSINode), although pod %s is ready", pod.Name)
		out.Unregistered = true
	default:
		out.Why = waitsFor(pod)
	}
	if out.Cordoned {
		out.Why += "; the node is cordoned"
	}
	return out
}

// place is the node of a pod, also of one that the scheduler has not put there yet.
func place(pod corev1.Pod) string {
	affinity := pod.Spec.Affinity
	if pod.Spec.NodeName != "" || affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return pod.Spec.NodeName
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

func ready(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func nodeReady(node corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// waitsFor is the first thing that keeps a pod from being ready.
func waitsFor(pod corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s is not scheduled: %s", pod.Name, short(c.Message))
		}
	}
	var unready []string
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := container.State.Waiting; waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing" && waiting.Reason != "ContainerCreating" {
			return fmt.Sprintf("container %s of pod %s: %s%s", container.Name, pod.Name, waiting.Reason, last(container))
		}
		if !container.Ready {
			unready = append(unready, container.Name)
		}
	}
	if len(unready) == 0 {
		return fmt.Sprintf("pod %s is %s", pod.Name, cmp.Or(string(pod.Status.Phase), string(corev1.PodPending)))
	}
	return fmt.Sprintf("not ready in pod %s: %s", pod.Name, strings.Join(unready, ", "))
}

// last is how the container ended, or why it did not start.
func last(c corev1.ContainerStatus) string {
	ended := c.LastTerminationState.Terminated
	switch {
	case ended != nil && strings.TrimSpace(ended.Message) != "":
		return ", ended with " + short(ended.Message)
	case ended != nil:
		return fmt.Sprintf(", ended with exit code %d", ended.ExitCode)
	case c.State.Waiting.Message != "":
		return ", " + short(c.State.Waiting.Message)
	}
	return ""
}

// short is the last line of a text, cut to what a condition can hold.
func short(text string) string {
	const most = 200
	text = strings.TrimSpace(text)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// shown is how many nodes a message names.
const shown = 5

func leftOutMessage(driverName string, found Found) string {
	names := found.LeftOut
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d nodes have no driver %s, because ceph.node leaves them out: %s", len(names), found.Wanted+len(names), driverName, text)
}

func message(driverName string, desired int32, unserved []Unserved) string {
	var lines []string
	for _, u := range unserved[:min(shown, len(unserved))] {
		lines = append(lines, u.Node+": "+u.Why)
	}
	if more := len(unserved) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d of %d nodes cannot mount volumes of %s:\n%s", len(unserved), desired, driverName, strings.Join(lines, "\n"))
}
