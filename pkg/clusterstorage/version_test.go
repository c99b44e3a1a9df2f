package clusterstorage

import (
	"slices"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
	release := []string{"r.example/csi/driver:2", "sidecar@sha256:22"}
	for name, tc := range map[string]struct {
		pod  corev1.PodSpec
		want bool
	}{
		"All":       {pod("r.example/csi/driver:2", "sidecar@sha256:22"), true},
		"Some":      {pod("r.example/csi/driver:2"), true},
		"Old":       {pod("r.example/csi/driver:1", "sidecar@sha256:22"), false},
		"Longer":    {pod("r.example/csi/driver:22"), false},
		"Similar":   {pod("r.example/csi/other-driver:2"), false},
		"Mirrored":  {pod("mirror.local:5000/r.example/csi/driver:2", "mirror.local:5000/library/sidecar@sha256:22"), true},
		"Pinned":    {pod("r.example/csi/driver:2@sha256:21"), true},
		"OldPinned": {pod("r.example/csi/driver:1@sha256:22"), false},
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

// deployedBy is a cluster that one version has finished with, but for what changes.
func deployedBy(version string, change func(cr *operatorv1.ClusterCSIDriver, controller *appsv1.Deployment, node *appsv1.DaemonSet)) starter {
	s := filled()
	s.Version = "4.23.0"
	o := s.operators()[0]
	meta := func(name string) metav1.ObjectMeta {
		out := metav1.ObjectMeta{Namespace: driver.Namespace, Name: name, Annotations: map[string]string{"operator.openshift.io/spec-hash": "1"}}
		out.Annotations[driver.VersionAnnotation] = driver.VersionMark(version, out.Annotations)
		return out
	}
	deployment := func(name, image string) *appsv1.Deployment {
		out := &appsv1.Deployment{ObjectMeta: meta(name), Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}}
		out.Spec.Template.Spec = pod(image)
		return out
	}
	cr := &operatorv1.ClusterCSIDriver{ObjectMeta: metav1.ObjectMeta{Name: o.CSIDriverName}}
	cr.Spec.ManagementState = operatorv1.Managed
	cr.Status.Conditions = []operatorv1.OperatorCondition{cond("AProgressing", no, "")}
	own, controller := deployment(o.driver.OperatorName(), "registry.example.com/operator:1"), deployment(o.driver.ControllerName(), "registry.example.com/driver:1")
	node := &appsv1.DaemonSet{ObjectMeta: meta(o.driver.NodeName())}
	node.Spec.Template.Spec = pod("registry.example.com/driver:1")
	if change != nil {
		change(cr, controller, node)
	}
	s.clients.operators = operatorinformers.NewSharedInformerFactory(nil, 0)
	s.clients.kubeInformers = v1helpers.NewKubeInformersForNamespaces(kubefake.NewClientset(), driver.Namespace)
	apps := s.clients.ns().Apps().V1()
	for _, err := range []error{
		s.clients.operators.Operator().V1().ClusterCSIDrivers().Informer().GetIndexer().Add(cr),
		apps.Deployments().Informer().GetIndexer().Add(own), apps.Deployments().Informer().GetIndexer().Add(controller),
		apps.DaemonSets().Informer().GetIndexer().Add(node),
	} {
		if err != nil {
			panic(err)
		}
	}
	return s
}

func TestUpToDate(t *testing.T) {
	type change = func(*operatorv1.ClusterCSIDriver, *appsv1.Deployment, *appsv1.DaemonSet)
	for name, tc := range map[string]struct {
		reason  string
		version string
		change  change
		want    bool
	}{
		"Done":        {"everything is of this version", "4.23.0", nil, true},
		"Same images": {"the new operator runs, and has not said yet what is to change: a release may change arguments alone", "4.22.0", nil, false},
		"Rolled back in between": {"the version before that knew no mark has left the mark, and changed the rest", "4.23.0",
			func(_ *operatorv1.ClusterCSIDriver, controller *appsv1.Deployment, _ *appsv1.DaemonSet) {
				controller.Annotations["operator.openshift.io/spec-hash"] = "2"
			}, false},
		"Nodes later": {"the DaemonSet is still of the version before", "4.23.0",
			func(_ *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, node *appsv1.DaemonSet) {
				delete(node.Annotations, driver.VersionAnnotation)
			}, false},
		"Unmanaged": {"what an administrator looks after must not hold up an upgrade", "4.22.0",
			func(cr *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, _ *appsv1.DaemonSet) {
				cr.Spec.ManagementState = operatorv1.Unmanaged
			}, true},
		"Disabled": {"nothing is deployed", "4.22.0",
			func(cr *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, _ *appsv1.DaemonSet) {
				cr.Status.Conditions = []operatorv1.OperatorCondition{cond("Disabled", yes, "")}
			}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := deployedBy(tc.version, tc.change)
			if got := s.upToDate(s.operators()[0]); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
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
