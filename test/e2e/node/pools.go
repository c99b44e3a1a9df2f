package node

import (
	"context"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Pooled has a pool that is new to drivers that run.
func Pooled() {
	It("binds and mounts a volume of a class with a new pool, and restarts nothing", func(ctx SpecContext) {
		before := restarts(ctx)
		Expect(env.Cluster.Ceph().CreatePool(ctx, "meanwhile", "rbd")).To(Succeed())
		newClass(ctx, driver.RBD.StorageClass, "meanwhile", func(class map[string]any) {
			Expect(unstructured.SetNestedField(class, "meanwhile", "parameters", "pool")).To(Succeed())
		})
		begin, c := time.Now(), claimed{name: "meanwhile", class: "meanwhile"}
		claim(ctx, c)
		expectBound(ctx, c.name)
		figure("volume of a new pool bound", begin)
		pod := hold(ctx, c, nodes[0])
		figure("volume of a new pool mounted", begin)
		do(ctx, pod, "write", file, mebibyte, c.name)
		end(ctx, pod)
		Expect(restarts(ctx)).To(Equal(before))
	})
}

// restarts are those of all containers, by their pods, whose names change when they are replaced.
func restarts(ctx context.Context) map[string]int32 {
	GinkgoHelper()
	out := map[string]int32{}
	for _, p := range pods(ctx) {
		counts := map[string]int32{}
		for _, c := range p.Status.ContainerStatuses {
			counts[p.Name+"/"+c.Name] = c.RestartCount
		}
		maps.Copy(out, counts)
	}
	return out
}
