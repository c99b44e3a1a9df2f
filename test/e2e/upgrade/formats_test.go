package upgrade

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// formats are the records of the state ConfigMaps by their keys, as this version writes them; passing is what else
// there may be: of classes that are made anew.
var (
	formats = map[string]any{
		"cluster": state.Cluster{}, "placement": state.Placement{}, "settings": state.Settings{}, "users": state.CephUsers{}, "infraID": state.InfraID{},
	}
	passing = []string{"version", "class", "snapshotClass", "groupSnapshotClass", "virtualizationClass"}
)

// expectPresentFormats waits until all that the former version has stored is stored as this version does, without
// anybody's doing: the next version then need not read what the former one wrote.
func expectPresentFormats(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			stored, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for key, format := range formats {
				g.Expect(fields(g, stored.Data[key])).To(ContainElements(fields(g, text(g, format))), "%s of %s", key, stored.Name)
			}
			for key := range stored.Data {
				g.Expect(append(slices.Collect(maps.Keys(formats)), passing...)).To(ContainElement(key), "what else %s has", stored.Name)
			}
			cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cr.Annotations[driver.SettingsAnnotation]).To(MatchJSON(settings[d.Name].member))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
}

func fields(g Gomega, content string) []string {
	GinkgoHelper()
	var out map[string]any
	g.Expect(json.Unmarshal([]byte(content), &out)).To(Succeed(), content)
	return slices.Collect(maps.Keys(out))
}
