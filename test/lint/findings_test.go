package lint

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pod is a template's manifest; what it says of the pod and of its container follows.
const pod = "kind: Deployment\nspec:\n  template:\n    spec:\n"

const safe = pod + `
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - resources: {requests: {cpu: 1m, memory: 1Mi}}
        securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// bound is a role with one rule and who binds it.
func bound(kind, name, binding, rule string) string {
	return "kind: " + kind + "\nmetadata: {name: " + name + "}\nrules:\n- " + rule + "\n---\nkind: " + binding + "\nroleRef: {kind: " + kind + ", name: " + name + "}\n"
}

func TestIn(t *testing.T) {
	tests := map[string]struct {
		reason, manifests string
		want              Findings
	}{
		"Safe":    {"all is as it should be", safe, Findings{}},
		"Service": {"what is no workload and no role has no findings", "kind: Service\nspec: {ports: [{port: 1}]}\n", Findings{}},
		"Unsaid": {"what is not said is what Kubernetes takes, which is the worst", pod + "      containers: [{name: a}]\n", Findings{
			"containers with a root file system to write to": 1, "containers that may run as root": 1, "containers that may gain privileges": 1,
			"containers that keep capabilities": 1, "containers without a seccomp profile": 1, "containers without requests of CPU and memory": 1,
		}},
		"Node": {"each way to the node counts", safe + `
        volumeMounts: [{name: a}, {name: b, readOnly: true}, {name: c}]
      hostNetwork: true
      hostPID: true
      hostIPC: true
      volumes: [{name: a, hostPath: {path: /a}}, {name: b, hostPath: {path: /b}}, {name: c, emptyDir: {}}]
`, Findings{
			"pods in the node's network": 1, "pods among the node's processes": 1, "pods in the node's IPC": 1,
			"folders of the node in pods": 2, "folders of the node that containers may write to": 1,
		}},
		"Container": {"a container may undo what its pod says", pod + `
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      initContainers:
      - resources: {requests: {cpu: 1m}}
        securityContext: {privileged: true, runAsNonRoot: false, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false,
          seccompProfile: {type: Unconfined}, capabilities: {drop: [ALL], add: [SYS_ADMIN]}}
      containers: [{resources: {requests: {cpu: 1m, memory: 1Mi}}, securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
`, Findings{
			"privileged containers": 1, "containers that may run as root": 1, "containers that keep capabilities": 1,
			"containers without a seccomp profile": 1, "containers without requests of CPU and memory": 1,
		}},
		"Unbound": {"a role that nobody binds gives nothing", `kind: ClusterRole
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
`, Findings{}},
		"Secrets": {"all Secrets of the cluster", bound("ClusterRole", "a", "ClusterRoleBinding", `{apiGroups: [""], resources: [secrets], verbs: [get, update]}`), Findings{
			"verbs on all Secrets of the cluster, by roles of its own": 2, "verbs that write any object of a kind in the cluster": 1, "verbs that read any object of a kind in the cluster": 1,
		}},
		"SharedSecrets": {"OpenShift's role", bound("ClusterRole", "openshift-csi-a", "ClusterRoleBinding", `{apiGroups: [""], resources: [secrets], verbs: [get]}`), Findings{
			"verbs on all Secrets of the cluster, by roles that all drivers share": 1,
		}},
		"Named":     {"single objects", bound("ClusterRole", "a", "ClusterRoleBinding", `{apiGroups: [""], resources: [secrets], resourceNames: [b], verbs: [get]}`), Findings{}},
		"Namespace": {"a ClusterRole for one namespace", bound("ClusterRole", "a", "RoleBinding", `{apiGroups: [""], resources: [secrets], verbs: [get, delete]}`), Findings{"verbs that write any object of a kind in the namespace": 1}},
		"Wildcard": {"whatever there may be some day", bound("ClusterRole", "a", "ClusterRoleBinding", `{apiGroups: ["*"], resources: [events], verbs: [get]}`), Findings{
			"verbs on kinds or groups by wildcard": 1, "verbs that read any object of a kind in the cluster": 1,
		}},
		"Escalation": {"rights that give rights", bound("ClusterRole", "a", "ClusterRoleBinding", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind, escalate, create]}`), Findings{
			"escalate, impersonate, and bind of any role": 2, "verbs that write any role or binding": 1, "verbs that write any object of a kind in the cluster": 1,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "manifests.yaml"), []byte(tc.manifests), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := In(dir)
			if err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(got, func(_ string, count int) bool { return count == 0 })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	if _, err := In(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("manifests that are not there have no findings")
	}
}
