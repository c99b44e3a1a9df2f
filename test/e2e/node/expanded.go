package node

import (
	"context"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	gibibyte = 1 << 30
	// used is how much of a volume its filesystem may take for itself.
	used = gibibyte / 8
)

// Expanded has volumes that grow in use.
func Expanded() {
	It("grows an RBD filesystem, an RBD block device and CephFS under their pods", func(ctx SpecContext) {
		// ext4 grows in use only for those who have CAP_SYS_RESOURCE, which is not everywhere that tests run.
		newClass(ctx, driver.RBD.StorageClass, "xfs", func(class map[string]any) {
			Expect(unstructured.SetNestedField(class, "xfs", "parameters", "csi.storage.k8s.io/fstype")).To(Succeed())
		})
		growing := []claimed{
			{name: "grows-xfs", class: "xfs"},
			{name: "grows-block", class: driver.RBD.StorageClass, block: true},
			{name: "grows-cephfs", class: driver.CephFS.StorageClass, mode: corev1.ReadWriteMany},
		}
		pods := map[string]string{}
		for _, c := range growing {
			claim(ctx, c)
			pods[c.name] = create(ctx, c, nodes[1], "hold")
		}
		for _, c := range growing {
			expectRunning(ctx, pods[c.name])
			do(ctx, pods[c.name], "write", c.path(), mebibyte, c.name)
			Expect(sizeSeen(ctx, pods[c.name], c)).To(BeNumerically("<=", gibibyte), c.name)
		}
		begin := time.Now()
		for _, c := range growing {
			resize(ctx, c.name, "2Gi")
		}
		for _, c := range growing {
			Eventually(func(g Gomega) {
				got, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, c.name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got.Status.Capacity.Storage().Cmp(resource.MustParse("2Gi"))).To(BeZero(), "%s: %+v", c.name, got.Status)
				g.Expect(sizeSeen(ctx, pods[c.name], c)).To(BeNumerically(">", 2*gibibyte-used), c.name)
			}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(Succeed())
			figure(c.name+" from 1 to 2 GiB", begin)
			do(ctx, pods[c.name], "verify", c.path(), mebibyte, c.name)
		}
		for _, c := range growing {
			end(ctx, pods[c.name])
		}
	})
}

// path is where pods write.
func (c claimed) path() string {
	if c.block {
		return device
	}
	return file
}

// sizeSeen is that of the filesystem or of the device, as the pod sees it.
func sizeSeen(ctx context.Context, pod string, c claimed) int64 {
	GinkgoHelper()
	path := folder
	if c.block {
		path = device
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(do(ctx, pod, "size", path)), 10, 64)
	Expect(err).NotTo(HaveOccurred())
	return bytes
}

func resize(ctx context.Context, name, size string) {
	GinkgoHelper()
	patch := []byte(`{"spec":{"resources":{"requests":{"storage":"` + size + `"}}}}`)
	_, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}
