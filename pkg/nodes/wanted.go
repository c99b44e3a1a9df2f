package nodes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
)

const (
	linux = "linux"
	// conditionTaints begin the keys of taints that say how a node is: the DaemonSet controller has its
	// pods tolerate them.
	conditionTaints = "node.kubernetes.io/"
)

// wanted says whether a DaemonSet's pods are to run on a node.
func wanted(pod corev1.PodSpec, node corev1.Node) bool {
	return labels.SelectorFromSet(pod.NodeSelector).Matches(labels.Set(node.Labels)) &&
		!slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return repels(taint, pod.Tolerations) })
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
