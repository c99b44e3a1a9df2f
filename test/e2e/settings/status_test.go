package settings

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// ownMetric is a line of the operator's own metrics among those of library-go.
var ownMetric = regexp.MustCompile(`(?m)^ceph_csi_driver_operator_.*$`)

var _ = Describe("What the operator knows", func() {
	It("is in the status ConfigMap, without a key", func(ctx SpecContext) {
		mons := env.MonAddresses(ctx)
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				held, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				text := held.Data["status.yaml"]
				var status struct {
					Driver       string
					CephClusters []struct {
						FSID, Version string
						Sources       []string
						MonmapEpoch   int
						Monitors      map[string][]string
						Pools         struct{ InUse, Protected []string }
					}
					Credentials struct {
						Mode  string
						Users []string
					}
					DefaultClass struct{ FSID, Pool, Filesystem string }
				}
				g.Expect(yaml.Unmarshal([]byte(text), &status)).To(Succeed())
				sc := class(ctx, g, d)
				g.Expect(status.Driver).To(Equal(d.Name))
				g.Expect(status.CephClusters).To(HaveLen(1))
				g.Expect(status.CephClusters[0].FSID).To(Equal(sc.Parameters["clusterID"]))
				g.Expect(status.CephClusters[0].Version).To(MatchRegexp(`^\d+\.\d+`))
				g.Expect(status.CephClusters[0].Sources).To(ConsistOf(ContainSubstring(driver.CredentialsSecret)))
				g.Expect(status.Credentials.Mode).NotTo(BeEmpty())
				g.Expect(status.Credentials.Users).To(ContainElement(HavePrefix("client.")))
				g.Expect(status.CephClusters[0].MonmapEpoch).To(BeNumerically(">=", 1))
				g.Expect(status.CephClusters[0].Monitors).To(HaveLen(len(mons)))
				for _, mon := range mons {
					g.Expect(text).To(ContainSubstring(mon))
				}
				g.Expect(status.DefaultClass.FSID).To(Equal(sc.Parameters["clusterID"]))
				g.Expect(status.DefaultClass.Pool).To(Equal(sc.Parameters["pool"]))
				if pool := status.DefaultClass.Pool; pool != "" {
					g.Expect(status.CephClusters[0].Pools.InUse).To(ContainElement(pool))
					g.Expect(status.CephClusters[0].Pools.Protected).To(ContainElement(pool))
				}
				g.Expect(status.DefaultClass.Filesystem).To(Equal(sc.Parameters["fsName"]))
				for _, key := range fixture.KeysOf(env.Cluster.Ceph().Keyring()) {
					g.Expect(text).NotTo(ContainSubstring(key))
				}
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		}
	})

	It("comes back when somebody deletes the ConfigMap", func(ctx SpecContext) {
		d := driver.RBD
		configMaps := env.Kube.CoreV1().ConfigMaps(driver.Namespace)
		var before string
		Eventually(func(g Gomega) {
			held, err := configMaps.Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			before = held.Data["status.yaml"]
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		Expect(configMaps.Delete(ctx, d.StatusConfigMap(), metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			held, err := configMaps.Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(held.Data["status.yaml"]).NotTo(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		AddReportEntry("status.yaml", before)
	})

	It("is in its metrics, for those who may read them", func(ctx SpecContext) {
		token := env.Scraper(ctx)
		for _, d := range driver.All {
			fsid := class(ctx, Default, d).Parameters["clusterID"]
			Eventually(func(g Gomega) {
				code, text := env.Metrics(ctx, g, d, token)
				g.Expect(code).To(Equal(http.StatusOK), text)
				// mon_sync_seconds is there only once this process has written a new monmap.
				g.Expect(strings.Join(ownMetric.FindAllString(text, -1), "\n")).To(SatisfyAll(
					MatchRegexp(`(?m)^ceph_csi_driver_operator_monmap_epoch\{fsid="`+regexp.QuoteMeta(fsid)+`"\} [1-9]`),
					MatchRegexp(`(?m)^ceph_csi_driver_operator_reachable\{fsid="`+regexp.QuoteMeta(fsid)+`"\} 1`),
					MatchRegexp(`(?m)^ceph_csi_driver_operator_monmap_age_seconds\{fsid="`+regexp.QuoteMeta(fsid)+`"\} [0-9.]+`),
					MatchRegexp(`(?m)^ceph_csi_driver_operator_missing_pools\{fsid="`+regexp.QuoteMeta(fsid)+`"\} 0`),
					MatchRegexp(`(?m)^ceph_csi_driver_operator_legacy_volumes 0`)))
			}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(time.Second).Should(Succeed())
			code, _ := env.Metrics(ctx, Default, d, "")
			Expect(code).To(Or(Equal(http.StatusUnauthorized), Equal(http.StatusForbidden)))
		}
	})
})
