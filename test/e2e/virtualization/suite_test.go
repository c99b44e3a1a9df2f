package virtualization

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	env = fixture.Start(ctx, embedded.Options{Masters: 2, Workers: 1})
	env.StartSnapshotController(ctx)
	env.Deploy(ctx)
	expectCurrent(ctx, "")
	for _, d := range driver.All {
		before = append(before, fixture.Lines(env.Requests(d, time.Time{}))...)
	}
})

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

// expectCurrent waits until VirtualMachinesUsable is True in both drivers, or absent.
func expectCurrent(ctx context.Context, status string) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.VirtualMachinesUsable)
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
