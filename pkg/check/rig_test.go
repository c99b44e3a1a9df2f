package check

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// rig is a Ceph cluster and a Kubernetes cluster in which nothing is wrong.
type rig struct {
	t       *testing.T
	ceph    *cephtest.Cluster
	config  Config
	objects []runtime.Object
	others  []*unstructured.Unstructured
}

func newRig(t *testing.T) *rig {
	t.Helper()
	c := cephtest.New()
	c.AddMon("b")
	c.AddMon("c")
	c.AddPool(ceph.Pool{Name: "vms", Applications: []string{"rbd"}})
	c.AddFileSystem("myfs", true)
	r := &rig{t: t, ceph: c, config: Config{
		Conf:    File{Name: "a.conf", Content: c.Conf()},
		Keyring: File{Name: "a.keyring", Content: c.Keyring("admin")},
		Drivers: driver.All,
		Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") },
		Reach: func(_ context.Context, address ceph.Address) error {
			if c.Alive(address) {
				return nil
			}
			return errors.New("nobody listens")
		},
		Dial: func(ctx context.Context, source ceph.Source) (Ceph, error) {
			client, err := c.Dial(ctx, source)
			if err != nil {
				return nil, err
			}
			return client, nil
		},
	}}
	r.objects = []runtime.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: driver.Namespace}},
		snapshotDeployment("csi-snapshot-controller", 1),
	}
	r.others = []*unstructured.Unstructured{
		object("config.openshift.io/v1", "Infrastructure", "cluster", "status", map[string]any{"infrastructureName": "demo"}),
		object("operator.openshift.io/v1", "Storage", "cluster", "spec", map[string]any{"managementState": "Managed"}),
		object("security.openshift.io/v1", "SecurityContextConstraints", privilegedSCC, "priority", nil),
		driversCRDObject("rbd.csi.ceph.com", "cephfs.csi.ceph.com"),
	}
	for _, name := range append([]string{sccCRD}, snapshotCRDs...) {
		r.others = append(r.others, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "spec", nil))
	}
	return r
}

func object(apiVersion, kind, name, field string, value any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}, field: value,
	}}
}

func driversCRDObject(names ...string) *unstructured.Unstructured {
	var enum []any
	for _, name := range names {
		enum = append(enum, name)
	}
	properties := map[string]any{
		"metadata": map[string]any{"properties": map[string]any{"name": map[string]any{"enum": enum}}},
	}
	if len(names) > 0 {
		properties["spec"] = map[string]any{"properties": map[string]any{"driverConfig": map[string]any{
			"properties": map[string]any{"ceph": map[string]any{"type": "object"}}}}}
	}
	return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", driversCRD, "spec", map[string]any{
		"versions": []any{map[string]any{"schema": map[string]any{"openAPIV3Schema": map[string]any{"properties": properties}}}},
	})
}

// without removes an object by its name, or by a kind of which there is one.
func (r *rig) without(which string) {
	r.others = slices.DeleteFunc(r.others, func(o *unstructured.Unstructured) bool { return o.GetName() == which || o.GetKind() == which })
}

// tune sets the settings of a driver.
func (r *rig) tune(name string, fields map[string]any) {
	r.others = append(r.others, object("operator.openshift.io/v1", "ClusterCSIDriver", name, "spec",
		map[string]any{"driverConfig": map[string]any{"driverType": "Ceph", "ceph": fields}}))
}

// as makes another user's keyring the one that is checked.
func (r *rig) as(id string, caps ceph.Caps) {
	r.ceph.AddUser(id)
	r.ceph.SetCaps(id, caps)
	r.config.Keyring.Content = r.ceph.Keyring(id)
}

// withCluster hands over the Kubernetes cluster as it is now.
func (r *rig) withCluster() {
	profiles := schema.GroupVersionResource{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "storageprofiles"}
	cdis := schema.GroupVersionResource{Group: "cdi.kubevirt.io", Version: "v1beta1", Resource: "cdis"}
	snapshotClasses := schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		profiles: "StorageProfileList", cdis: "CDIList", snapshotClasses: "VolumeSnapshotClassList",
	})
	resources := map[string]schema.GroupVersionResource{
		"CustomResourceDefinition": ctrl.CRDs, "Infrastructure": infrastructureResource, "Storage": storageResource,
		"ClusterCSIDriver": driverResource, "SecurityContextConstraints": sccResource,
		"StorageProfile": profiles, "CDI": cdis, "VolumeSnapshotClass": snapshotClasses,
	}
	for _, o := range r.others {
		if err := client.Tracker().Create(resources[o.GetKind()], o, ""); err != nil {
			r.t.Fatal(err)
		}
	}
	r.config.Cluster = &Cluster{Kubeconfig: "a.kubeconfig", Kube: fake.NewClientset(r.objects...), Dynamic: client}
}

// run checks, and that neither key nor write left a trace.
func (r *rig) run() Report {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	report := Run(ctx, r.config)
	var out bytes.Buffer
	if err := errors.Join(report.WriteTable(&out), report.WriteJSON(&out)); err != nil {
		r.t.Fatal(err)
	}
	for _, user := range []string{"admin", "x"} {
		if key := r.ceph.Credentials(user).Key.Reveal(); key != "" && strings.Contains(out.String(), key[4:30]) {
			r.t.Errorf("the key of %s is shown:\n%s", user, out.String())
		}
	}
	if writes := r.ceph.Writes(); len(writes) > 0 {
		r.t.Errorf("written to Ceph: %v", writes)
	}
	if r.config.Cluster != nil {
		for _, action := range r.config.Cluster.Kube.(*fake.Clientset).Actions() {
			if !slices.Contains([]string{"get", "list"}, action.GetVerb()) {
				r.t.Errorf("written to Kubernetes: %v", action)
			}
		}
	}
	return report
}

// expect has what must stand in a line.
type expect struct {
	group, name string
	state       State
	message     []string
	fix         string
}

// verify finds the expected lines, and no wrong one beside them.
func verify(t *testing.T, report Report, want []expect) {
	t.Helper()
	found := map[int]bool{}
	for _, w := range want {
		i := slices.IndexFunc(report.Lines, func(l Line) bool { return l.Group == w.group && l.Name == w.name })
		if i < 0 {
			t.Errorf("no line %s/%s", w.group, w.name)
			continue
		}
		found[i] = true
		l := report.Lines[i]
		if l.State != w.state {
			t.Errorf("%s/%s is %s, want %s: %s", l.Group, l.Name, l.State, w.state, l.Message)
		}
		for _, part := range w.message {
			if !strings.Contains(l.Message, part) {
				t.Errorf("%s/%s: %q does not have %q", l.Group, l.Name, l.Message, part)
			}
		}
		if fix := strings.Join(l.Fix, "; "); !strings.Contains(fix, w.fix) || (l.State == Wrong) && fix == "" {
			t.Errorf("%s/%s: commands %q do not have %q", l.Group, l.Name, fix, w.fix)
		}
	}
	for i, l := range report.Lines {
		if l.State == Wrong && !found[i] {
			t.Errorf("also wrong: %s/%s: %s", l.Group, l.Name, l.Message)
		}
	}
	if t.Failed() {
		_ = report.WriteTable(os.Stderr)
	}
}
