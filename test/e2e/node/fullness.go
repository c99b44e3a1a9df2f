package node

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// kubeletLooks is more than the minute that kubelet lets pass between two looks at how full volumes are.
const kubeletLooks = 3 * time.Minute

// Told has kubelet hear how full volumes are.
func Told() {
	It("tells kubelet how large an RBD filesystem, an RBD block device and CephFS are", func(ctx SpecContext) {
		for _, c := range []claimed{image, block, shared} {
			Eventually(func(g Gomega) {
				g.Expect(capacities(ctx, g, nodes[1])).To(HaveKeyWithValue(c.name, BeNumerically(">", gibibyte-used)))
			}).WithContext(ctx).WithTimeout(kubeletLooks).WithPolling(time.Second).Should(Succeed())
		}
	})
}

// capacities of the volumes on a node in bytes, by the names of their claims, as kubelet knows them.
func capacities(ctx context.Context, g Gomega, on string) map[string]int64 {
	raw, err := env.Kube.CoreV1().RESTClient().Get().Resource("nodes").Name(on).SubResource("proxy").Suffix("stats/summary").DoRaw(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	var summary struct {
		Pods []struct {
			Volume []struct {
				PVCRef        struct{ Name string } `json:"pvcRef"`
				CapacityBytes int64                 `json:"capacityBytes"`
			} `json:"volume"`
		} `json:"pods"`
	}
	g.Expect(json.Unmarshal(raw, &summary)).To(Succeed())
	out := map[string]int64{}
	for _, pod := range summary.Pods {
		for _, v := range pod.Volume {
			out[v.PVCRef.Name] = v.CapacityBytes
		}
	}
	return out
}
