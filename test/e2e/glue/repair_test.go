package glue

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// owned are all objects that cluster-storage makes for a driver: each of its assets.
func owned(d driver.Driver) []fixture.Applied {
	GinkgoHelper()
	var manifests [][]byte
	for _, config := range configs.Configs(configs.Cluster{Getenv: func(string) string { return "" }}) {
		if config.CSIDriverName != d.Name {
			continue
		}
		more := []string{config.StandaloneOperatorConfigAsset, config.CRAsset, config.ServiceMonitorAsset, config.DeploymentAsset}
		for _, path := range slices.Concat(config.StaticAssets, more) {
			if strings.Contains(path, "/05_clusterrole_") {
				continue // Those are installed with it.
			}
			content, err := assets.Operator(path)
			Expect(err).NotTo(HaveOccurred())
			manifests = append(manifests, content)
		}
	}
	return env.Applied(manifests...)
}

func repaired() {
	It("restores every object of its own that is deleted", func(ctx SpecContext) {
		begin := time.Now()
		defer func() { env.Lawless(begin, time.Now()) }()
		all := owned(driver.RBD)
		Expect(all).To(HaveLen(12), "one for each file of assets/csidriveroperators/ceph-rbd that it applies")
		restores(ctx, all, func(kind string) bool { return kind != "Deployment" && kind != "ClusterCSIDriver" })
		// With the ServiceAccount, the operator's token has gone: the old operator cannot give its
		// lease back, and its successor would wait for that.
		Expect(env.Kube.CoordinationV1().Leases(driver.Namespace).Delete(ctx, driver.RBD.OperatorName()+"-lock", metav1.DeleteOptions{})).To(Succeed())
		restores(ctx, all, func(kind string) bool { return kind == "Deployment" })
		restores(ctx, all, func(kind string) bool { return kind == "ClusterCSIDriver" })
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		env.Settle(ctx)
	})

	It("takes changes by hand back", func(ctx SpecContext) {
		name := driver.CephFS.OperatorName()
		env.Kubectl(ctx, "-n", driver.Namespace, "set", "image", "deployment/"+name, name+"=example.com/other:1")
		Eventually(func(g Gomega) {
			deployment, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(deployment.Spec.Template.Spec.Containers[0].Image).NotTo(ContainSubstring("example.com/other"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	})

	for _, d := range driver.All {
		It("takes one in each other object back: "+d.Name, func(ctx SpecContext) {
			// Settings are in the last one, and the server's in the first.
			others := append([]string{"ConfigMap", "Deployment", "ClusterCSIDriver"}, fixture.Unchangeable...)
			env.TakesBack(ctx, slices.DeleteFunc(owned(d), func(o fixture.Applied) bool { return slices.Contains(others, o.Kind) }))
		})
	}
}

// restores deletes the objects whose kinds match, and waits for new ones.
func restores(ctx SpecContext, all []fixture.Applied, match func(kind string) bool) {
	GinkgoHelper()
	uids := map[string]types.UID{}
	for _, o := range all {
		if !match(o.Kind) {
			continue
		}
		deleted, err := o.Client.Get(ctx, o.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred(), o.Kind)
		uids[o.Kind+o.Name] = deleted.GetUID()
		Expect(o.Client.Delete(ctx, o.Name, metav1.DeleteOptions{})).To(Succeed())
	}
	Eventually(func(g Gomega) {
		for _, o := range all {
			if !match(o.Kind) {
				continue
			}
			restored, err := o.Client.Get(ctx, o.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred(), o.Kind)
			g.Expect(restored.GetUID()).NotTo(Equal(uids[o.Kind+o.Name]), o.Kind+" "+o.Name)
		}
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
}

// deleteService deletes an object of the CephFS operator that only cluster-storage restores.
func deleteService(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Kube.CoreV1().Services(driver.Namespace).Delete(ctx, driver.CephFS.OperatorName()+"-metrics", metav1.DeleteOptions{})).To(Succeed())
}

func getService(ctx context.Context) error {
	_, err := env.Kube.CoreV1().Services(driver.Namespace).Get(ctx, driver.CephFS.OperatorName()+"-metrics", metav1.GetOptions{})
	return err
}
