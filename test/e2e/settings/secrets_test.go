package settings

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// elsewhere is a namespace in which a class's Secrets are.
const elsewhere = "their-secrets"

// allowing is the command that conditions print.
var allowing = regexp.MustCompile(`oc (create rolebinding [-\w]+ -n ` + elsewhere + ` --clusterrole=[-\w]+ --serviceaccount=[-\w]+:[-\w]+)`)

// refer makes a StorageClass and a VolumeSnapshotClass whose Secret is elsewhere.
func refer(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	name := d.Kind + "-elsewhere"
	theirs := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: d.Name, Parameters: maps.Clone(class(ctx, Default, d).Parameters)}
	theirs.Parameters["csi.storage.k8s.io/provisioner-secret-namespace"] = elsewhere
	_, err := env.Kube.StorageV1().StorageClasses().Create(ctx, theirs, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
	snapshotClasses := env.Dynamic.Resource(schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"})
	ours, err := snapshotClasses.Get(ctx, d.SnapshotClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	snapshots := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "metadata": map[string]any{"name": name},
		"driver": d.Name, "deletionPolicy": "Delete", "parameters": ours.Object["parameters"],
	}}
	Expect(unstructured.SetNestedField(snapshots.Object, elsewhere, "parameters", "csi.storage.k8s.io/snapshotter-secret-namespace")).To(Succeed())
	_, err = snapshotClasses.Create(ctx, snapshots, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(snapshotClasses.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}

var _ = Describe("A class whose Secret is in another namespace", func() {
	It("is told of, with the command that lets the driver's controllers read it", func(ctx SpecContext) {
		_, err := env.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, d := range driver.All {
			refer(ctx, d)
		}
		for _, d := range driver.All {
			var said operatorv1.OperatorCondition
			Eventually(func(g Gomega) {
				said = env.Condition(ctx, g, d, condition.StorageClassesUsable)
				g.Expect(said.Status).To(Equal(operatorv1.ConditionFalse))
				g.Expect(said.Reason).To(Equal(condition.Forbidden))
				for _, kind := range []string{"StorageClass", "VolumeSnapshotClass"} {
					g.Expect(said.Message).To(ContainSubstring(kind + " " + d.Kind + "-elsewhere names Secret " + elsewhere + "/" + d.ProvisionerSecret()))
				}
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty(), "it is for information only")
			command := allowing.FindStringSubmatch(said.Message)
			Expect(command).NotTo(BeNil(), said.Message)
			env.Kubectl(ctx, strings.Fields(command[1])...)
		}
		for _, d := range driver.All {
			// The operator looks again within a minute.
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, d, condition.StorageClassesUsable).Status).To(Equal(operatorv1.ConditionTrue))
			}).WithContext(ctx).WithTimeout(time.Minute + fixture.Soon).Should(Succeed())
		}
	})
})
