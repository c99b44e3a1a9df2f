package upgrade

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/rights"
)

// expectPresentBindings waits until the drivers' pods have no ClusterRoleBindings but those that they have after an
// installation of this version.
func expectPresentBindings(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			all, err := env.Kube.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			var names []string
			for _, b := range all.Items {
				if slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
					return s.Namespace == driver.Namespace && slices.Contains(rights.OperandAccounts(d), s.Name)
				}) {
					names = append(names, b.Name)
				}
			}
			g.Expect(names).To(ConsistOf(shippedBindings(g, d)))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
}

// shippedBindings are the ClusterRoleBindings that a driver's operator applies.
func shippedBindings(g Gomega, d driver.Driver) []string {
	GinkgoHelper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "registry.example.com/image"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, name := range set.Static() {
		var object metav1.PartialObjectMetadata
		g.Expect(yaml.Unmarshal(set.Manifest(name), &object)).To(Succeed())
		if object.Kind == "ClusterRoleBinding" {
			out = append(out, object.Name)
		}
	}
	return out
}
