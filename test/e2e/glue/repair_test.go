package glue

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// object is one that cluster-storage made.
type object struct {
	client dynamic.ResourceInterface
	kind   string
	name   string
}

// owned are all objects that cluster-storage makes for a driver: each of its assets.
func owned(d driver.Driver) []object {
	GinkgoHelper()
	groups, err := restmapper.GetAPIGroupResources(env.Kube.Discovery())
	Expect(err).NotTo(HaveOccurred())
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	var out []object
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
			var manifest unstructured.Unstructured
			Expect(yaml.Unmarshal(content, &manifest.Object)).To(Succeed(), path)
			gvk := manifest.GroupVersionKind()
			mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
			Expect(err).NotTo(HaveOccurred(), path)
			out = append(out, object{env.Dynamic.Resource(mapping.Resource).Namespace(manifest.GetNamespace()), gvk.Kind, manifest.GetName()})
		}
	}
	return out
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
		env.Kubectl(ctx, "patch", "clusterrole", name+"-clusterrole", "--type=json", "-p",
			`[{"op": "add", "path": "/rules/-", "value": {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}}]`)
		Eventually(func(g Gomega) {
			deployment, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(deployment.Spec.Template.Spec.Containers[0].Image).NotTo(ContainSubstring("example.com/other"))
			role, err := env.Kube.RbacV1().ClusterRoles().Get(ctx, name+"-clusterrole", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, rule := range role.Rules {
				g.Expect(rule.Verbs).NotTo(ContainElement("*"))
			}
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	})
}

// restores deletes the objects whose kinds match, and waits for new ones.
func restores(ctx SpecContext, all []object, match func(kind string) bool) {
	GinkgoHelper()
	uids := map[string]types.UID{}
	for _, o := range all {
		if !match(o.kind) {
			continue
		}
		deleted, err := o.client.Get(ctx, o.name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred(), o.kind)
		uids[o.kind+o.name] = deleted.GetUID()
		Expect(o.client.Delete(ctx, o.name, metav1.DeleteOptions{})).To(Succeed())
	}
	Eventually(func(g Gomega) {
		for _, o := range all {
			if !match(o.kind) {
				continue
			}
			restored, err := o.client.Get(ctx, o.name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred(), o.kind)
			g.Expect(restored.GetUID()).NotTo(Equal(uids[o.kind+o.name]), o.kind+" "+o.name)
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
