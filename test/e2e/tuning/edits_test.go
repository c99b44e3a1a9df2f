package tuning

import (
	"cmp"
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// edit is what a person does to an object of ours by hand.
type edit struct {
	what     string
	resource schema.GroupVersionResource
	// object is its name; those of the namespace are in ours, or in another one.
	object     func(driver.Driver) string
	namespaced bool
	elsewhere  string
	// patch is a JSON patch; without one, the object is deleted.
	patch string
	// field is what the patch changes.
	field string
	// optional says that there is none with some releases of Ceph.
	optional bool
}

func resource(group, version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}

func prefixed(suffix string) func(driver.Driver) string {
	return func(d driver.Driver) string { return "ceph-" + d.Kind + suffix }
}

// edits are restored while Managed and stay while Unmanaged.
func edits() []edit {
	deployments, daemonSets := resource("apps", "v1", "deployments"), resource("apps", "v1", "daemonsets")
	secrets := resource("", "v1", "secrets")
	return []edit{
		{what: "another image in the Deployment", resource: deployments, object: driver.Driver.ControllerName, namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/mine:1"}]`},
		{what: "more replicas of the Deployment", resource: deployments, object: driver.Driver.ControllerName, namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/replicas","value":3}]`},
		{what: "a mount less in the DaemonSet", resource: daemonSets, object: driver.Driver.NodeName, namespaced: true, field: "spec",
			patch: `[{"op":"remove","path":"/spec/template/spec/containers/0/volumeMounts/0"}]`},
		{what: "one more rule in a ClusterRole", resource: resource("rbac.authorization.k8s.io", "v1", "clusterroles"), object: prefixed("-csi-driver-controller-role"), field: "rules",
			patch: `[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["pods"],"verbs":["delete"]}}]`},
		{what: "another selector of the metrics Service", resource: resource("", "v1", "services"), object: prefixed("-csi-driver-controller-metrics"), namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/selector/app","value":"mine"}]`},
		{what: "another port of the metrics Service", resource: resource("", "v1", "services"), object: prefixed("-csi-driver-controller-metrics"), namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/ports/0/port","value":19201}]`},
		{what: "nonsense in config.json", resource: secrets, object: driver.Driver.ConfigSecret, namespaced: true, field: "data",
			patch: `[{"op":"replace","path":"/data/config.json","value":"W10="}]`},
		{what: "another user in a cephx Secret", resource: secrets, object: driver.Driver.NodeSecret, namespaced: true, field: "data",
			patch: `[{"op":"replace","path":"/data/userID","value":"bm9ib2R5"}]`},
		{what: "another cluster in the VolumeSnapshotClass", resource: resource("snapshot.storage.k8s.io", "v1", "volumesnapshotclasses"),
			object: func(d driver.Driver) string { return d.SnapshotClass }, field: "parameters",
			patch: `[{"op":"replace","path":"/parameters/clusterID","value":"mine"}]`},
		{what: "another interval in the ServiceMonitor", resource: resource("monitoring.coreos.com", "v1", "servicemonitors"),
			object: driver.Driver.ServiceMonitor, namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/endpoints/0/interval","value":"1h"}]`},
		{what: "no ServiceMonitor", resource: resource("monitoring.coreos.com", "v1", "servicemonitors"),
			object: driver.Driver.ServiceMonitor, namespaced: true},
		{what: "another threshold in the PrometheusRule", resource: resource("monitoring.coreos.com", "v1", "prometheusrules"),
			object: driver.Driver.PrometheusRule, namespaced: true, field: "spec",
			patch: `[{"op":"replace","path":"/spec/groups/0/rules/0/for","value":"10d"}]`},
		{what: "no PrometheusRule", resource: resource("monitoring.coreos.com", "v1", "prometheusrules"),
			object: driver.Driver.PrometheusRule, namespaced: true},
		{what: "an empty dashboard", resource: resource("", "v1", "configmaps"), object: prefixed("-csi-driver-dashboard"), namespaced: true,
			elsewhere: "openshift-config-managed", field: "data", patch: `[{"op":"remove","path":"/data"}]`},
		{what: "no dashboard", resource: resource("", "v1", "configmaps"), object: prefixed("-csi-driver-dashboard"), namespaced: true,
			elsewhere: "openshift-config-managed"},
		{what: "no PodDisruptionBudget", resource: resource("policy", "v1", "poddisruptionbudgets"), object: prefixed("-csi-driver-controller-pdb"), namespaced: true},
		{what: "no ServiceAccount", resource: resource("", "v1", "serviceaccounts"), object: prefixed("-csi-driver-node-sa"), namespaced: true},
		{what: "no binding", resource: resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings"), object: prefixed("-csi-driver-controller-binding")},
		{what: "no cephx Secret", resource: secrets, object: driver.Driver.ProvisionerSecret, namespaced: true},
		{what: "no CSIDriver", resource: resource("storage.k8s.io", "v1", "csidrivers"), object: func(d driver.Driver) string { return d.Name }},
		{what: "no VolumeGroupSnapshotClass", resource: resource("groupsnapshot.storage.k8s.io", "v1beta2", "volumegroupsnapshotclasses"),
			object: func(d driver.Driver) string { return d.SnapshotClass }, optional: true},
		{what: "no Deployment", resource: deployments, object: driver.Driver.ControllerName, namespaced: true},
		{what: "no DaemonSet", resource: daemonSets, object: driver.Driver.NodeName, namespaced: true},
	}
}

func (e edit) client() dynamic.ResourceInterface {
	if e.namespaced {
		return env.Dynamic.Resource(e.resource).Namespace(cmp.Or(e.elsewhere, namespace))
	}
	return env.Dynamic.Resource(e.resource)
}

func (e edit) get(ctx context.Context, d driver.Driver) (*unstructured.Unstructured, error) {
	return e.client().Get(ctx, e.object(d), metav1.GetOptions{})
}

// apply edits the object and returns what it was before; nil where there is none.
func (e edit) apply(ctx context.Context, d driver.Driver) *unstructured.Unstructured {
	GinkgoHelper()
	before, err := e.get(ctx, d)
	if e.optional && apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred(), e.what)
	if e.patch == "" {
		Expect(e.client().Delete(ctx, e.object(d), metav1.DeleteOptions{})).To(Succeed(), e.what)
		return before
	}
	after, err := e.client().Patch(ctx, e.object(d), types.JSONPatchType, []byte(e.patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred(), e.what)
	Expect(after.Object[e.field]).NotTo(Equal(before.Object[e.field]), e.what)
	return before
}

// restored says whether the object is again what it was before the edit.
func (e edit) restored(ctx context.Context, d driver.Driver, before *unstructured.Unstructured) error {
	if before == nil {
		return nil
	}
	now, err := e.get(ctx, d)
	if err != nil {
		return err
	}
	matcher, expected := Equal(before.Object[e.field]), now.Object[e.field]
	if e.patch == "" {
		matcher, expected = Not(Equal(before.GetUID())), now.GetUID()
	}
	if same, err := matcher.Match(expected); err != nil || !same {
		return errorOr(err, matcher.FailureMessage(expected))
	}
	return nil
}
