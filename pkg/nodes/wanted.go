package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

const (
	linux = "linux"
	// conditionTaints begin the keys of taints that say how a node is: the DaemonSet controller has its
	// pods tolerate them.
	conditionTaints = "node.kubernetes.io/"
)

// leftOutBy is what keeps a DaemonSet's pods from a node; empty if they are to run there.
func leftOutBy(pod corev1.PodSpec, node corev1.Node) string {
	for _, label := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		wanted := pod.NodeSelector[label]
		switch value, found := node.Labels[label]; {
		case !found:
			return "no label " + label
		case value != wanted:
			return fmt.Sprintf("label %s is not %q", label, wanted)
		}
	}
	for _, taint := range node.Spec.Taints {
		if repels(taint, pod.Tolerations) {
			return "taint " + taint.ToString()
		}
	}
	return ""
}

func repels(taint corev1.Taint, tolerations []corev1.Toleration) bool {
	if taint.Effect == corev1.TaintEffectPreferNoSchedule || strings.HasPrefix(taint.Key, conditionTaints) {
		return false
	}
	return !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), &taint, false) })
}

// narrowed says whether nodes of Linux may be left out.
func narrowed(pod corev1.PodSpec) bool {
	for label := range pod.NodeSelector {
		if label != corev1.LabelOSStable {
			return true
		}
	}
	return !slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
		return t.Key == "" && t.Effect == "" && t.Operator == corev1.TolerationOpExists
	})
}
