package glue

import (
	"slices"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
)

func pod(images ...string) corev1.PodSpec {
	out := corev1.PodSpec{}
	for _, image := range images {
		out.Containers = append(out.Containers, corev1.Container{Image: image})
	}
	return out
}

func TestRunsOnly(t *testing.T) {
	release := []string{"driver:2", "sidecar:2"}
	for name, tc := range map[string]struct {
		pod  corev1.PodSpec
		want bool
	}{
		"All":  {pod("driver:2", "sidecar:2"), true},
		"Some": {pod("driver:2"), true},
		"Old":  {pod("driver:1", "sidecar:2"), false},
	} {
		if got := runsOnly(tc.pod, release); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNodesDeployed(t *testing.T) {
	daemonSet := func(strategy appsv1.DaemonSetUpdateStrategyType, observed int64, updated, unavailable int32) *appsv1.DaemonSet {
		d := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: strategy}}}
		d.Generation = 2
		d.Status = appsv1.DaemonSetStatus{ObservedGeneration: observed, DesiredNumberScheduled: 8, UpdatedNumberScheduled: updated, NumberUnavailable: unavailable}
		return d
	}
	stable := func(d *appsv1.DaemonSet) *appsv1.DaemonSet {
		nodes.MarkRolledOut(d, d)
		return d
	}
	rolling, onDelete := appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType
	for name, tc := range map[string]struct {
		reason    string
		daemonSet *appsv1.DaemonSet
		want      bool
	}{
		"Done":     {"all pods are new", daemonSet(rolling, 2, 8, 0), true},
		"NotSeen":  {"the change has not been acted on", daemonSet(rolling, 1, 8, 0), false},
		"Rolling":  {"pods are old", daemonSet(rolling, 2, 7, 0), false},
		"Starting": {"a new pod is not ready", daemonSet(rolling, 2, 8, 1), false},
		"Later":    {"a pod ended, or a node, after the rollout", stable(daemonSet(rolling, 2, 7, 1)), true},
		"OnDelete": {"old pods wait for an administrator, and must not hold up an upgrade", daemonSet(onDelete, 2, 0, 0), true},
	} {
		if got := nodesDeployed(tc.daemonSet); got != tc.want {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
	}
}

func TestSettled(t *testing.T) {
	for name, tc := range map[string]struct {
		conditions []operatorv1.OperatorCondition
		want       bool
	}{
		"Silent":      {nil, false},
		"Progressing": {[]operatorv1.OperatorCondition{cond("AProgressing", no, ""), cond("BProgressing", yes, "x")}, false},
		"Settled":     {[]operatorv1.OperatorCondition{cond("AProgressing", no, "")}, true},
	} {
		if got := settled(tc.conditions); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRelatedObjectsOfAssets(t *testing.T) {
	s := filled()
	var got []string
	for _, path := range s.operators()[0].StaticAssets {
		if reference, ok := s.reference(path); ok {
			got = append(got, reference.Resource)
		}
	}
	for _, want := range []string{"roles", "rolebindings", "clusterroles", "clusterrolebindings"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s are missing in %q", want, got)
		}
	}
	if slices.Contains(got, "services") || slices.Contains(got, "serviceaccounts") {
		t.Errorf("%q: core objects come with the namespace", got)
	}
}
