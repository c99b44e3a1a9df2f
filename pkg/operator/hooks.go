package operator

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configlisters "github.com/openshift/client-go/config/listers/config/v1"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/ptr"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// infrastructureName is the name of the singleton Infrastructure.
const infrastructureName = "cluster"

// withReplicas runs two replicas, or one where the nodes that carry them are a single one.
// library-go's WithReplicasHook gives one to every topology but HighlyAvailable, so also to
// those with two or three masters (DualReplica, HighlyAvailableArbiter).
func withReplicas(infrastructures configlisters.InfrastructureLister) func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
	return func(_ *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
		infra, err := infrastructures.Get(infrastructureName)
		if err != nil {
			return fmt.Errorf("reading the topology: %w", err)
		}
		replicas := replicasFor(infra.Status)
		deployment.Spec.Replicas = &replicas
		return nil
	}
}

func replicasFor(infra configv1.InfrastructureStatus) int32 {
	topology := infra.ControlPlaneTopology
	if topology == configv1.ExternalTopologyMode {
		topology = infra.InfrastructureTopology
	}
	if topology == configv1.SingleReplicaTopologyMode {
		return 1
	}
	return 2
}

// requireInfraID keeps controllers from running, or from being updated, without the tag by
// which the volumes of this cluster are found at its teardown.
func requireInfraID(infrastructures configlisters.InfrastructureLister) func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
	return func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
		_, err := ctrl.InfraID(infrastructures)
		return err
	}
}

// withoutMissingMasters lets the controllers run anywhere when no node is a dedicated master:
// otherwise they would stay Pending, as they would with an external control plane, whatever labels nodes
// have: RKE2 and Harvester give OpenShift's another value.
func withoutMissingMasters(infrastructures configlisters.InfrastructureLister, masters corelisters.NodeLister) func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
	return func(_ *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
		infra, err := infrastructures.Get(infrastructureName)
		if err != nil {
			return fmt.Errorf("reading the topology: %w", err)
		}
		nodes, err := masters.List(labels.Everything())
		if err != nil {
			return fmt.Errorf("listing master nodes: %w", err)
		}
		if len(nodes) == 0 || infra.Status.ControlPlaneTopology == configv1.ExternalTopologyMode {
			// library-go's own hook may have left no selector at all.
			deployment.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
		}
		return nil
	}
}

// place has pods run where settings say, and with what. What is not set stays; of the default selector,
// only the masters' label goes: node pods run on Linux alone.
func place(pod *corev1.PodSpec, set driver.Pods) {
	if len(set.NodeSelector) > 0 {
		selector := maps.Clone(set.NodeSelector)
		for label, value := range pod.NodeSelector {
			if _, given := selector[label]; !given && label != masterLabel {
				selector[label] = value
			}
		}
		pod.NodeSelector = selector
	}
	if len(set.Tolerations) > 0 {
		pod.Tolerations = set.Tolerations
	}
	if set.PriorityClassName != "" {
		pod.PriorityClassName = set.PriorityClassName
	}
	for i, container := range pod.Containers {
		if resources, ok := set.Resources[container.Name]; ok {
			pod.Containers[i].Resources = resources
		}
	}
}

// At traceAll, library-go's verbosity of that, client-go logs what the API server is sent and answers,
// Secrets with their keys among it (rest/request.go, logBody).
const (
	traceAll      = "--v=8"
	withoutSecret = "--v=7"
)

// hideSecrets has no container log what is in Secrets.
func hideSecrets(pod *corev1.PodSpec) {
	for _, container := range pod.Containers {
		for i, arg := range container.Args {
			if arg == traceAll {
				container.Args[i] = withoutSecret
			}
		}
	}
}

// plainUser is nobody's in the images of the controllers.
const plainUser = 65534

// withUser gives the pods a user where nobody else does. On OpenShift, SecurityContextConstraints
// do; elsewhere, the kubelet refuses images that run as root: the pods say runAsNonRoot.
func withUser(openshift func() bool) func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
	return func(_ *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
		if openshift() {
			return nil
		}
		pod := &deployment.Spec.Template.Spec
		if pod.SecurityContext == nil || pod.SecurityContext.RunAsUser != nil {
			return nil
		}
		pod.SecurityContext.RunAsUser = ptr.To[int64](plainUser)
		return nil
	}
}

// markVersion notes on a workload, whose spec no later hook changes, which version applies it.
func markVersion(meta *metav1.ObjectMeta, version string, spec any) error {
	if err := resourceapply.SetSpecHashAnnotation(meta, spec); err != nil {
		return fmt.Errorf("hashing the spec of %s: %w", meta.Name, err)
	}
	meta.Annotations[driver.VersionAnnotation] = driver.VersionMark(version, meta.Annotations)
	return nil
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// refusePlaceholders is the last hook of both workloads: what still has a placeholder never
// reaches the API server.
func refusePlaceholders[T appsv1.Deployment | appsv1.DaemonSet](_ *operatorv1.OperatorSpec, workload *T) error {
	raw, err := json.Marshal(workload)
	if err != nil {
		return fmt.Errorf("encoding the workload: %w", err)
	}
	left := string(placeholder.Find(raw))
	if left == "" {
		return nil
	}
	return fmt.Errorf("no value for %s: if it stands in Proxy/cluster, write it in another way (%%24 is a dollar sign in URLs)", left)
}
