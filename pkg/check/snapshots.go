package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
)

// snapshotCRDs are those without which csi-snapshotter ends.
var snapshotCRDs = []string{
	"volumesnapshotclasses.snapshot.storage.k8s.io",
	"volumesnapshotcontents.snapshot.storage.k8s.io",
	"volumesnapshots.snapshot.storage.k8s.io",
}

const (
	groupSnapshotsCRD = "volumegroupsnapshots.groupsnapshot.storage.k8s.io"
	// groupSnapshotVersion is what csi-snapshotter asks for since 8.6; releases 8.4 and 8.5 ask for v1beta2.
	groupSnapshotVersion = "v1"
)

// The snapshot-controller's lease has the same name wherever it comes from. Its Deployment is
// snapshot-controller upstream, csi-snapshot-controller on OpenShift, rke2-snapshot-controller on
// RKE2 and Harvester, <release>-snapshot-controller by Helm.
const (
	snapshotLease      = "snapshot-controller-leader"
	snapshotController = "snapshot-controller"
)

// snapshotsFrom has the kustomizations of CRDs and controller.
const snapshotsFrom = "kubectl apply -k 'https://github.com/kubernetes-csi/external-snapshotter//%s?ref=v8.6.0'"

// snapshotFacts are what tells of a snapshot-controller.
type snapshotFacts struct {
	now    time.Time
	leases []coordinationv1.Lease
	// workloads run one, or would.
	workloads []snapshotWorkload
}

type snapshotWorkload struct {
	kind, namespace, name string
	available             bool
}

// gatherSnapshots looks for a snapshot-controller in all namespaces; who finds a lease that is
// held needs no more.
func gatherSnapshots(ctx context.Context, config Config) (snapshotFacts, error) {
	kube, now := config.Cluster.Kube, time.Now()
	leases, err := kube.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", snapshotLease).String(),
	})
	if err != nil {
		return snapshotFacts{}, err
	}
	out := snapshotFacts{now: now, leases: leases.Items}
	if _, held := out.held(); held {
		return out, nil
	}
	deployments, err := kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return snapshotFacts{}, err
	}
	for _, d := range deployments.Items {
		out.add(snapshotWorkload{"deployment", d.Namespace, d.Name, d.Status.AvailableReplicas > 0})
	}
	statefulSets, err := kube.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return snapshotFacts{}, err
	}
	for _, s := range statefulSets.Items {
		out.add(snapshotWorkload{"statefulset", s.Namespace, s.Name, s.Status.ReadyReplicas > 0})
	}
	return out, nil
}

func (s *snapshotFacts) add(w snapshotWorkload) {
	if strings.HasSuffix(w.name, snapshotController) {
		s.workloads = append(s.workloads, w)
	}
}

// held finds a lease that somebody renews.
func (s snapshotFacts) held() (coordinationv1.Lease, bool) {
	i := slices.IndexFunc(s.leases, func(l coordinationv1.Lease) bool {
		spec := l.Spec
		if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
			return false
		}
		return s.now.Before(spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second))
	})
	if i < 0 {
		return coordinationv1.Lease{}, false
	}
	return s.leases[i], true
}

func snapshots(_ Config, f facts) []Line {
	const name = "snapshots"
	var missing []string
	for _, crd := range snapshotCRDs {
		switch fact := f.cluster.crds[crd]; {
		case fact.err != nil:
			return []Line{unknown(name, fact.err.Error())}
		case fact.value == nil:
			missing = append(missing, crd)
		}
	}
	if len(missing) > 0 {
		fix := "oc get clusteroperator csi-snapshot-controller  # it installs them"
		if f.cluster.plain() {
			fix = fmt.Sprintf(snapshotsFrom, "client/config/crd")
		}
		return []Line{wrong(name, "CRDs are missing, without which the controller's csi-snapshotter ends: "+strings.Join(missing, ", "), fix)}
	}
	return []Line{right(name, "the CRDs exist")}
}

// snapshotControllers says whether anybody makes the contents of VolumeSnapshots: CRDs alone do not.
func snapshotControllers(_ Config, f facts) []Line {
	const name = "snapshot-controller"
	fact := f.cluster.snapshots
	if fact.err != nil {
		return []Line{unknown(name, fact.err.Error())}
	}
	if lease, held := fact.value.held(); held {
		return []Line{right(name, "runs: %s holds the lease in namespace %s", *lease.Spec.HolderIdentity, lease.Namespace)}
	}
	workloads := fact.value.workloads
	for _, w := range workloads {
		if w.available {
			return []Line{right(name, "runs: %s %s in namespace %s", w.kind, w.name, w.namespace)}
		}
	}
	fix := []string{"oc get clusteroperator csi-snapshot-controller  # it runs it"}
	if f.cluster.plain() {
		fix = []string{fmt.Sprintf(snapshotsFrom, "deploy/kubernetes/snapshot-controller")}
	}
	const so = ": snapshots never become ready"
	if len(workloads) > 0 {
		w := workloads[0]
		return []Line{wrong(name, fmt.Sprintf("%s %s in namespace %s has no pod that is available%s", w.kind, w.name, w.namespace, so),
			fmt.Sprintf("oc -n %s describe %s %s", w.namespace, w.kind, w.name))}
	}
	for _, lease := range fact.value.leases {
		if at := lease.Spec.RenewTime; at != nil {
			return []Line{wrong(name, fmt.Sprintf("none runs; the lease in namespace %s was renewed at %s, which is too long ago by the clock here%s",
				lease.Namespace, at.UTC().Format(time.RFC3339), so), fix...)}
		}
	}
	return []Line{wrong(name, "none runs"+so, fix...)}
}

// groupSnapshots compares the versions served with those that csi-snapshotter asks for. Plain
// snapshots do not depend on it.
func groupSnapshots(_ Config, f facts) []Line {
	const name = "group snapshots"
	fact := f.cluster.crds[groupSnapshotsCRD]
	switch {
	case fact.err != nil:
		return []Line{unknown(name, fact.err.Error())}
	case fact.value == nil:
		return []Line{right(name, "none: their CRDs do not exist")}
	}
	versions := servedVersions(fact.value)
	if slices.Contains(versions, groupSnapshotVersion) {
		return []Line{right(name, "the CRDs serve %s", groupSnapshotVersion)}
	}
	fix := "oc get clusteroperator csi-snapshot-controller  # its release and that of the image of csi-snapshotter are to be the same"
	if f.cluster.plain() {
		fix = fmt.Sprintf(snapshotsFrom, "client/config/crd")
	}
	return []Line{note(name, fmt.Sprintf("the CRDs serve %s: csi-snapshotter 8.6 or newer, as in OpenShift 4.23, asks for %s, 8.4 and 8.5 for v1beta2: a snapshotter that asks for another one takes no snapshots of groups, by whatever class",
		strings.Join(versions, ", "), groupSnapshotVersion), fix)}
}

func servedVersions(crd *unstructured.Unstructured) []string {
	var out []string
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if name, ok := version["name"].(string); ok && version["served"] == true {
			out = append(out, name)
		}
	}
	return out
}
