package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configlisters "github.com/openshift/client-go/config/listers/config/v1"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestReplicasFor(t *testing.T) {
	tests := map[string]struct {
		reason       string
		controlPlane configv1.TopologyMode
		workers      configv1.TopologyMode
		want         int32
	}{
		"HighlyAvailable":  {"three masters", configv1.HighlyAvailableTopologyMode, configv1.HighlyAvailableTopologyMode, 2},
		"SingleNode":       {"one node cannot carry two anti-affine pods", configv1.SingleReplicaTopologyMode, configv1.SingleReplicaTopologyMode, 1},
		"OneMaster":        {"controllers run on masters, of which there is one", configv1.SingleReplicaTopologyMode, configv1.HighlyAvailableTopologyMode, 1},
		"Dual":             {"two masters", configv1.DualReplicaTopologyMode, configv1.HighlyAvailableTopologyMode, 2},
		"Arbiter":          {"two masters and an arbiter", configv1.HighlyAvailableArbiterMode, configv1.HighlyAvailableTopologyMode, 2},
		"ExternalHA":       {"controllers run on workers", configv1.ExternalTopologyMode, configv1.HighlyAvailableTopologyMode, 2},
		"ExternalOneNode":  {"controllers run on the only worker", configv1.ExternalTopologyMode, configv1.SingleReplicaTopologyMode, 1},
		"TopologyNotKnown": {"an Infrastructure without status is no reason to lose a replica", "", "", 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := replicasFor(configv1.InfrastructureStatus{ControlPlaneTopology: tc.controlPlane, InfrastructureTopology: tc.workers})
			if got != tc.want {
				t.Errorf("%s: got %d replicas, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestMarkVersion marks what library-go then applies.
func TestMarkVersion(t *testing.T) {
	d := &appsv1.Deployment{}
	marks := map[string]bool{}
	for _, replicas := range []int32{1, 1, 2} {
		d.Spec.Replicas = ptr.To(replicas)
		if err := markVersion(&d.ObjectMeta, "4.23.0", d.Spec); err != nil {
			t.Fatal(err)
		}
		applied := d.DeepCopy()
		if err := resourceapply.SetSpecHashAnnotation(&applied.ObjectMeta, applied.Spec); err != nil {
			t.Fatal(err)
		}
		mark := applied.Annotations[driver.VersionAnnotation]
		if mark != driver.VersionMark("4.23.0", applied.Annotations) || !strings.HasPrefix(mark, "4.23.0 ") || len(mark) < 20 {
			t.Errorf("%v", applied.Annotations)
		}
		marks[mark] = true
	}
	if len(marks) != 2 {
		t.Errorf("the same spec has the same mark, another one another: %v", marks)
	}
}

func TestRequireInfraID(t *testing.T) {
	tests := map[string]struct {
		reason  string
		infraID string
		fails   bool
	}{
		"Named":    {"volumes are tagged with it", "demo-x7k2p", false},
		"Nameless": {"volumes without a tag would survive the teardown of the cluster", "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			infra := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: infrastructureName}}
			infra.Status.InfrastructureName = tc.infraID
			if err := indexer.Add(infra); err != nil {
				t.Fatal(err)
			}
			err := requireInfraID(configlisters.NewInfrastructureLister(indexer))(nil, &appsv1.Deployment{})
			if (err != nil) != tc.fails {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestWithoutMissingMasters(t *testing.T) {
	tests := map[string]struct {
		reason  string
		masters []string
		mode    configv1.TopologyMode
		want    bool
	}{
		"Dedicated": {"masters exist: the controllers stay on them", []string{"master-0"}, configv1.HighlyAvailableTopologyMode, true},
		"None":      {"no node has the label: the pods would stay Pending", nil, configv1.HighlyAvailableTopologyMode, false},
		"External":  {"what has the label is no master: those are in another cluster", []string{"worker-0"}, configv1.ExternalTopologyMode, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			for _, node := range tc.masters {
				if err := indexer.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}); err != nil {
					t.Fatal(err)
				}
			}
			infras := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			infra := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: infrastructureName}}
			infra.Status.ControlPlaneTopology = tc.mode
			if err := infras.Add(infra); err != nil {
				t.Fatal(err)
			}
			d := &appsv1.Deployment{}
			d.Spec.Template.Spec.NodeSelector = map[string]string{masterLabel: "", "kubernetes.io/os": "linux"}
			if tc.mode == configv1.ExternalTopologyMode {
				d.Spec.Template.Spec.NodeSelector = map[string]string{} // library-go's own hook comes first.
			}
			if err := withoutMissingMasters(configlisters.NewInfrastructureLister(infras), corelisters.NewNodeLister(indexer))(nil, d); err != nil {
				t.Fatal(err)
			}
			if _, got := d.Spec.Template.Spec.NodeSelector[masterLabel]; got != tc.want {
				t.Errorf("%s: node selector on masters is %t, want %t", tc.reason, got, tc.want)
			}
			if d.Spec.Template.Spec.NodeSelector["kubernetes.io/os"] != "linux" {
				t.Error("the pods run on Linux alone")
			}
		})
	}
}

func TestPlace(t *testing.T) {
	request := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	defaults := corev1.PodSpec{
		NodeSelector: map[string]string{masterLabel: "", "kubernetes.io/os": "linux"}, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		PriorityClassName: "system-node-critical", Containers: []corev1.Container{{Name: "a", Resources: request("1Mi")}, {Name: "b", Resources: request("2Mi")}},
	}
	tests := map[string]struct {
		reason string
		set    driver.Pods
		want   func(*corev1.PodSpec)
	}{
		"Unset":    {"the defaults", driver.Pods{}, func(*corev1.PodSpec) {}},
		"Empty":    {"an empty list is no choice", driver.Pods{Tolerations: []corev1.Toleration{}}, func(*corev1.PodSpec) {}},
		"Selector": {"elsewhere than on masters, and on Linux still", driver.Pods{NodeSelector: map[string]string{"infra": ""}}, func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"infra": "", "kubernetes.io/os": "linux"} }},
		"Masters": {"on masters after all", driver.Pods{NodeSelector: map[string]string{masterLabel: "", "kubernetes.io/os": "other"}}, func(p *corev1.PodSpec) {
			p.NodeSelector = map[string]string{masterLabel: "", "kubernetes.io/os": "other"}
		}},
		"Tolerations": {"not more than these", driver.Pods{Tolerations: []corev1.Toleration{{Key: "k"}}}, func(p *corev1.PodSpec) { p.Tolerations = []corev1.Toleration{{Key: "k"}} }},
		"Priority":    {"another one", driver.Pods{PriorityClassName: "mine"}, func(p *corev1.PodSpec) { p.PriorityClassName = "mine" }},
		"Resources":   {"of the container that is named", driver.Pods{Resources: map[string]corev1.ResourceRequirements{"b": request("9Mi"), "gone": {}}}, func(p *corev1.PodSpec) { p.Containers[1].Resources = request("9Mi") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := defaults.DeepCopy(), defaults.DeepCopy()
			place(got, tc.set)
			tc.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHideSecrets: TraceAll, by library-go's numbers, is what client-go logs the content of Secrets at.
func TestHideSecrets(t *testing.T) {
	for level, want := range map[operatorv1.LogLevel]string{operatorv1.Normal: "--v=2", operatorv1.Trace: "--v=6", operatorv1.TraceAll: "--v=7"} {
		verbosity := fmt.Sprint("--v=", loglevel.LogLevelToVerbosity(level))
		pod := corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"--a"}}, {Args: []string{"--b", verbosity}}}}
		hideSecrets(&pod)
		if got := pod.Containers[1].Args; !slices.Equal(got, []string{"--b", want}) {
			t.Errorf("%s: got %q, want %s", level, got, want)
		}
	}
}

func TestRefusePlaceholders(t *testing.T) {
	tests := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Rendered":  {"nothing is left", []string{"--v=2", "--nodeid=$(NODE_ID)"}, ""},
		"Proxy":     {"a value of somebody else's with the same look", []string{"http://u:${x}@proxy"}, "${x}: if it stands in Proxy/cluster"},
		"Truncated": {"also half a placeholder is none of ours", []string{"--v=${LOG_LEVEL"}, "${LOG_LEVEL"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kube-rbac-proxy", Args: tc.args}}
			err := refusePlaceholders(nil, d)
			if tc.want == "" && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got error %v, want one that names %s", tc.reason, err, tc.want)
			}
		})
	}
}

func TestWithUser(t *testing.T) {
	tests := map[string]struct {
		reason    string
		openshift bool
		given     *int64
		want      *int64
	}{
		"OpenShift":  {"one outside of the namespace's range would be refused", true, nil, nil},
		"Kubernetes": {"images of ceph-csi run as root, which runAsNonRoot forbids", false, nil, ptr.To[int64](plainUser)},
		"Given":      {"somebody has thought of it", false, ptr.To[int64](7), ptr.To[int64](7)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			deployment := &appsv1.Deployment{}
			deployment.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: tc.given}
			if err := withUser(func() bool { return tc.openshift })(nil, deployment); err != nil {
				t.Fatal(err)
			}
			if got := deployment.Spec.Template.Spec.SecurityContext.RunAsUser; !ptr.Equal(got, tc.want) {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}
