package upgrade

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func versionOf(o *configv1.ClusterOperator) string {
	for _, v := range o.Status.Versions {
		if v.Name == "operator" {
			return v.Version
		}
	}
	return ""
}

// last is the move that a revision belongs to, and whether any had begun.
func last(revision uint64) (move, bool) {
	for _, m := range slices.Backward(moves) {
		if revision > m.from {
			return m, true
		}
	}
	return move{}, false
}

func throughout() {
	It("was Available all the time", func() {
		unavailable, said := fixture.Unavailable(slices.DeleteFunc(env.ClusterOperators(), func(v fixture.Version) bool {
			_, begun := last(v.Revision())
			return !begun
		}))
		AddReportEntry("seconds without Available", unavailable.Seconds())
		fmt.Fprintf(GinkgoWriter, "%.1f s without Available\n", unavailable.Seconds())
		Expect(said).To(BeEmpty())
		Expect(unavailable).To(BeZero())
	})

	It("was Progressing until this version was everywhere, and no longer", func() {
		for _, m := range moves {
			if m.to == present {
				expectProgressing(m)
			}
		}
	})

	It("restarted no pod of a user", func(ctx SpecContext) {
		for what, was := range pods(ctx, Default) {
			Expect(was).To(Equal(remembered[what]), what)
		}
	})
}

// expectProgressing looks at what a move to this version has reported: what comes before the new version is Progressing.
// Earlier on, the former version may still speak, and say that its own last rollout has ended.
func expectProgressing(m move) {
	GinkgoHelper()
	began, ended, reached := false, false, uint64(0)
	for _, v := range env.ClusterOperators() {
		if now, begun := last(v.Revision()); !begun || now != m {
			continue
		}
		o := fixture.ClusterOperatorOf(v)
		status, _ := fixture.Status(o, configv1.OperatorProgressing)
		switch {
		case versionOf(o) == m.to.Version:
			if reached == 0 {
				Expect(began).To(BeTrue(), "%s was reported without Progressing before", m.to.Version)
				reached = v.Revision()
				expectRolledOut(reached)
			}
			ended = ended || status == "False"
			Expect(ended && status == "True").To(BeFalse(), "%s is Progressing again after %s was reported", v, m.to.Version)
		default:
			began = status == "True"
		}
	}
	Expect(reached).NotTo(BeZero())
	Expect(ended).To(BeTrue(), "%s stays Progressing", m.to.Version)
	for _, v := range workloads() {
		if now, begun := last(v.Revision()); begun && now == m && v.Revision() > reached {
			before := previous(v)
			Expect(v.Object.Object["spec"]).To(Equal(before.Object.Object["spec"]), "%s was changed after %s was reported", v, m.to.Version)
		}
	}
}

// expectRolledOut looks at Deployments as they were at a revision. A DaemonSet may wait for nodes that are not ready.
func expectRolledOut(revision uint64) {
	GinkgoHelper()
	latest := map[string]appsv1.Deployment{}
	for _, v := range workloads() {
		if v.Revision() > revision || v.Object.GetKind() != "Deployment" {
			continue
		}
		var d appsv1.Deployment
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(v.Object.Object, &d)).To(Succeed())
		latest[d.Name] = d
	}
	Expect(latest).NotTo(BeEmpty())
	for name, d := range latest {
		Expect(d.Status.ObservedGeneration).To(Equal(d.Generation), name)
		Expect(d.Status.UpdatedReplicas).To(Equal(*d.Spec.Replicas), name)
		Expect(d.Status.Replicas).To(Equal(*d.Spec.Replicas), name)
	}
}

// workloads are versions of all Deployments and DaemonSets of operators and drivers.
func workloads() []fixture.Version {
	return env.History.Of(func(v fixture.Version) bool {
		return slices.Contains([]string{"Deployment", "DaemonSet"}, v.Object.GetKind()) && v.Object.GetNamespace() == driver.Namespace
	})
}

func previous(of fixture.Version) fixture.Version {
	var out fixture.Version
	for _, v := range workloads() {
		if v.Object.GetUID() == of.Object.GetUID() && v.Revision() < of.Revision() {
			out = v
		}
	}
	return out
}

// old are conditions that an earlier version wrote, and this one does not know: by the field managers of
// that version, one that is counted and one that is for people.
var old = map[string]string{clusterstorage.FieldManager + "CephOld": "CephOldDegraded", "CephOld": "OldUsable"}

var storageResource = operatorv1.GroupVersion.WithResource("storages")

// plantOldConditions leaves them on Storage/cluster and on the ClusterCSIDriver of RBD.
func plantOldConditions(ctx context.Context) {
	GinkgoHelper()
	drivers := operatorv1.GroupVersion.WithResource("clustercsidrivers")
	for manager, kind := range old {
		resource, object := storageResource, &unstructured.Unstructured{Object: map[string]any{}}
		object.SetGroupVersionKind(operatorv1.GroupVersion.WithKind("Storage"))
		object.SetName("cluster")
		if kind == "OldUsable" {
			resource = drivers
			object.SetKind("ClusterCSIDriver")
			object.SetName(driver.RBD.Name)
			manager = driver.RBD.OperatorName() + "-" + manager
		}
		left := map[string]any{"type": kind, "status": "False", "reason": "Old", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
		Expect(unstructured.SetNestedSlice(object.Object, []any{left}, "status", "conditions")).To(Succeed())
		_, err := env.Dynamic.Resource(resource).ApplyStatus(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
		Expect(err).NotTo(HaveOccurred())
	}
}

func expectNoOldConditions(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		storage, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, kind := range old {
			for _, c := range slices.Concat(storage.Status.Conditions, env.Conditions(ctx, g, driver.RBD)) {
				g.Expect(c.Type).NotTo(Equal(kind))
			}
		}
		for _, d := range driver.All {
			cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, c := range cr.Status.Conditions {
				g.Expect(cr.ManagedFields).To(ContainElement(SatisfyAll(
					HaveField("Manager", d.OperatorName()+"-conditions"), HaveField("FieldsV1.GetRawString()", ContainSubstring(`"k:{\"type\":\"`+c.Type+`\"}"`)),
				)), "%s of %s", c.Type, d.Name)
			}
		}
	}).WithContext(ctx).Should(Succeed())
}
