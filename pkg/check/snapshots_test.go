package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

const elsewhere = "snapshots-are-here"

func snapshotDeployment(name string, available int32) runtime.Object {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: name},
		Status:     appsv1.DeploymentStatus{AvailableReplicas: available},
	}
}

// snapshotLeaseOf is a lease for 15 seconds.
func snapshotLeaseOf(holder string, age time.Duration) runtime.Object {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: snapshotLease},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: time.Now().Add(-age)},
		},
	}
}

func TestSnapshotController(t *testing.T) {
	tests := map[string]struct {
		reason  string
		plain   bool
		objects []runtime.Object
		want    expect
	}{
		"Lease":       {"a managed control plane shows nothing but that", false, []runtime.Object{snapshotLeaseOf("it", time.Second)}, expect{state: OK, message: []string{"it holds the lease", elsewhere}}},
		"Stale":       {"it ran once", true, []runtime.Object{snapshotLeaseOf("it", time.Minute)}, expect{state: Wrong, message: []string{"too long ago", "never become ready"}, fix: "deploy/kubernetes/snapshot-controller"}},
		"Released":    {"it ended in order", false, []runtime.Object{snapshotLeaseOf("", time.Second)}, expect{state: Wrong, fix: "oc get clusteroperator csi-snapshot-controller"}},
		"OpenShift":   {"its own name", false, []runtime.Object{snapshotDeployment("csi-snapshot-controller", 2)}, expect{state: OK, message: []string{"deployment csi-snapshot-controller in namespace " + elsewhere}}},
		"Upstream":    {"without leader election there is no lease", true, []runtime.Object{snapshotDeployment("snapshot-controller", 1)}, expect{state: OK}},
		"RKE2":        {"Harvester's", true, []runtime.Object{snapshotDeployment("rke2-snapshot-controller", 1)}, expect{state: OK}},
		"TakenOver":   {"the next pod waits for the lease of a killed one", true, []runtime.Object{snapshotLeaseOf("it", time.Minute), snapshotDeployment("snapshot-controller", 1)}, expect{state: OK}},
		"StatefulSet": {"as older releases made it", true, []runtime.Object{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: "snapshot-controller"}, Status: appsv1.StatefulSetStatus{ReadyReplicas: 1}}}, expect{state: OK}},
		"Pending":     {"its image cannot be pulled", true, []runtime.Object{snapshotDeployment("snapshot-controller", 0)}, expect{state: Wrong, message: []string{"no pod that is available"}, fix: "kubectl -n " + elsewhere + " describe deployment snapshot-controller"}},
		"Operator":    {"who installs it is not it", false, []runtime.Object{snapshotDeployment("csi-snapshot-controller-operator", 1)}, expect{state: Wrong, message: []string{"none runs"}, fix: "oc get clusteroperator csi-snapshot-controller"}},
		"None":        {"CRDs alone make no snapshot", true, nil, expect{state: Wrong, message: []string{"none runs"}, fix: "deploy/kubernetes/snapshot-controller"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.objects = append(r.objects[:1], tc.objects...)
			if tc.plain {
				r.without(sccCRD)
			}
			r.withCluster()
			tc.want.group, tc.want.name = "Kubernetes", "snapshot-controller"
			t.Log(tc.reason)
			verify(t, r.run(), []expect{tc.want})
		})
	}
}

// TestGroupSnapshots: csi-snapshotter looks for one version of their API, and a cluster may serve
// another; the operator then deploys it without them.
func TestGroupSnapshots(t *testing.T) {
	crd := func(served ...string) []any {
		out := []any{map[string]any{"name": "v1alpha1", "served": false}}
		for _, name := range served {
			out = append(out, map[string]any{"name": name, "served": true})
		}
		return out
	}
	tests := map[string]struct {
		reason   string
		versions []any
		plain    bool
		want     expect
	}{
		"None":      {"nobody has to have them", nil, false, expect{state: OK, message: []string{"do not exist"}}},
		"Current":   {"of 8.6", crd("v1beta1", "v1beta2", "v1"), false, expect{state: OK, message: []string{"v1"}}},
		"Older":     {"of 8.4: depends on the image", crd("v1beta1", "v1beta2"), true, expect{state: Note, message: []string{"serve v1beta1, v1beta2", "8.6"}, fix: "client/config/crd"}},
		"Oldest":    {"of 8.3", crd("v1beta1"), true, expect{state: Note, message: []string{"serve v1beta1:"}, fix: "client/config/crd"}},
		"OpenShift": {"an operator has the CRDs", crd("v1beta1", "v1beta2"), false, expect{state: Note, message: []string{"4.23"}, fix: "oc get clusteroperator csi-snapshot-controller"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if tc.versions != nil {
				r.others = append(r.others, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", groupSnapshotsCRD, "spec", map[string]any{"versions": tc.versions}))
			}
			if tc.plain {
				r.without(sccCRD)
			}
			r.withCluster()
			tc.want.group, tc.want.name = "Kubernetes", "group snapshots"
			t.Log(tc.reason)
			verify(t, r.run(), []expect{tc.want})
		})
	}
}
