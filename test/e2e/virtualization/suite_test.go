// Package virtualization brings what virtualization platforms bring, their CRDs, to a cluster
// with both drivers, and takes it away again. CDI's controller of StorageProfiles is the real one
// where it could be built; the others, and it elsewhere, are stand-ins: they behave as the real
// ones were observed to, as far as the operators rely on it. Each spec leaves the cluster as it found it.
package virtualization

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	env *fixture.Environment
	// before are the operators' requests from when there was no platform yet.
	before []string
)

func TestVirtualization(t *testing.T) { fixture.Run(t, "Virtual machines") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	env.Deploy(ctx)
	expectCurrent(ctx, "")
	for _, d := range driver.All {
		before = append(before, fixture.Lines(env.Requests(d, time.Time{}))...)
	}
})

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// install creates a CRD until the spec ends, and waits until the API server serves it.
func install(ctx context.Context, crd *unstructured.Unstructured) {
	GinkgoHelper()
	DeferCleanup(func(ctx SpecContext) { uninstall(ctx, crd.GetName()) })
	_, err := env.Dynamic.Resource(crds).Create(ctx, crd, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		held, err := env.Dynamic.Resource(crds).Get(ctx, crd.GetName(), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		conditions, _, _ := unstructured.NestedSlice(held.Object, "status", "conditions")
		g.Expect(conditions).To(ContainElement(And(HaveKeyWithValue("type", "Established"), HaveKeyWithValue("status", "True"))))
	}).WithContext(ctx).Should(Succeed())
}

// uninstall deletes a CRD, if it is there, and waits until it is gone.
func uninstall(ctx context.Context, name string) {
	GinkgoHelper()
	err := env.Dynamic.Resource(crds).Delete(ctx, name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
	nudged := time.Now()
	Eventually(func() bool {
		_, err := env.Dynamic.Resource(crds).Get(ctx, name, metav1.GetOptions{})
		if err == nil && time.Since(nudged) > fixture.Undisturbed {
			// The API server, where the CRD went while it was still starting to serve it, tries again
			// after a minute, or when the CRD changes.
			nudged = time.Now()
			nudge := `{"metadata":{"annotations":{"nudged":"` + nudged.Format(time.StampMilli) + `"}}}`
			_, _ = env.Dynamic.Resource(crds).Patch(ctx, name, types.MergePatchType, []byte(nudge), metav1.PatchOptions{})
		}
		return apierrors.IsNotFound(err)
	}).WithContext(ctx).Should(BeTrue(), "CRD "+name+" goes")
}

// ownClass creates a StorageClass like the driver's own until the spec ends.
func ownClass(ctx context.Context, d driver.Driver, name string, change func(*storagev1.StorageClass)) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	class.ObjectMeta = metav1.ObjectMeta{Name: name}
	change(class)
	DeferCleanup(func(ctx SpecContext) {
		Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
	_, err = env.Kube.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// expectCurrent waits until StorageProfilesCurrent is True in both drivers, or absent.
func expectCurrent(ctx context.Context, status string) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.StorageProfilesCurrent)
			g.Expect(string(c.Status)).To(Equal(status), "%s: %s", d.Name, c.Message)
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}
}

// writesTo are the lines of what the operators have changed of a resource since a moment.
func writesTo(resource string, since time.Time) []string {
	GinkgoHelper()
	var out []string
	for _, d := range driver.All {
		for _, request := range fixture.Writes(env.Requests(d, since)) {
			if request.ObjectRef != nil && request.ObjectRef.Resource == resource {
				out = append(out, d.Kind+" "+request.Verb+" "+request.ObjectRef.Name)
			}
		}
	}
	return out
}
