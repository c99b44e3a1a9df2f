package glue

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// owned are the objects that cluster-storage made for a driver, but for the ServiceAccount,
// with which the operator's token goes.
func owned(d driver.Driver) map[schema.GroupVersionResource][]types.NamespacedName {
	named := func(suffixes ...string) []types.NamespacedName {
		var out []types.NamespacedName
		for _, suffix := range suffixes {
			out = append(out, types.NamespacedName{Namespace: driver.Namespace, Name: d.OperatorName() + suffix})
		}
		return out
	}
	wide := func(name string) []types.NamespacedName { return []types.NamespacedName{{Name: name}} }
	rbac := rbacv1.SchemeGroupVersion
	return map[schema.GroupVersionResource][]types.NamespacedName{
		{Version: "v1", Resource: "services"}:                                          named("-metrics"),
		{Version: "v1", Resource: "configmaps"}:                                        named("-config"),
		{Group: "apps", Version: "v1", Resource: "deployments"}:                        named(""),
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}:   named(""),
		rbac.WithResource("roles"):                                                     named("-role", "-prometheus"),
		rbac.WithResource("rolebindings"):                                              named("-rolebinding", "-prometheus"),
		rbac.WithResource("clusterroles"):                                              wide(d.OperatorName() + "-clusterrole"),
		rbac.WithResource("clusterrolebindings"):                                       wide(d.OperatorName() + "-clusterrolebinding"),
		{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}: wide(d.Name),
	}
}

func repaired() {
	It("restores every object of its own that is deleted", func(ctx SpecContext) {
		begin := time.Now()
		defer func() { env.Lawless(begin, time.Now()) }()
		restores(ctx, func(resource string) bool { return !last(resource) })
		// An operator whose rights have gone could not give its lease back, and its successor would
		// wait for it.
		restores(ctx, last)
		Eventually(func(g Gomega) { expectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
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

// last are deleted when the operator has its rights.
func last(resource string) bool { return resource == "deployments" || resource == "clustercsidrivers" }

// restores deletes the objects of the resources that match, and waits for new ones.
func restores(ctx SpecContext, match func(resource string) bool) {
	GinkgoHelper()
	uids := map[string]types.UID{}
	each(driver.RBD, func(resource schema.GroupVersionResource, name types.NamespacedName) {
		if !match(resource.Resource) {
			return
		}
		client := env.Dynamic.Resource(resource).Namespace(name.Namespace)
		object, err := client.Get(ctx, name.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		uids[resource.Resource+name.Name] = object.GetUID()
		Expect(client.Delete(ctx, name.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	Eventually(func(g Gomega) {
		each(driver.RBD, func(resource schema.GroupVersionResource, name types.NamespacedName) {
			if !match(resource.Resource) {
				return
			}
			object, err := env.Dynamic.Resource(resource).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(object.GetUID()).NotTo(Equal(uids[resource.Resource+name.Name]), name.Name)
		})
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
}

func each(d driver.Driver, do func(schema.GroupVersionResource, types.NamespacedName)) {
	for resource, names := range owned(d) {
		for _, name := range names {
			do(resource, name)
		}
	}
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
