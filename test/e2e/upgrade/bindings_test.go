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
			g.Expect(bindingsOf(ctx, g, d)).To(ConsistOf(shippedBindings(g, d)))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
}

// formerBindings are the ClusterRoleBindings that the former version gives the drivers' pods, by kind.
var formerBindings map[string][]string

func learnFormerBindings(ctx context.Context) {
	GinkgoHelper()
	formerBindings = map[string][]string{}
	for _, d := range driver.All {
		formerBindings[d.Kind] = bindingsOf(ctx, Default, d)
	}
}

// expectFormerBindings waits until the drivers' pods have all of them again.
func expectFormerBindings(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			g.Expect(bindingsOf(ctx, g, d)).To(ContainElements(formerBindings[d.Kind]))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
}

// bindingsOf are the ClusterRoleBindings that a driver's pods have.
func bindingsOf(ctx context.Context, g Gomega, d driver.Driver) []string {
	GinkgoHelper()
	all, err := env.Kube.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, b := range all.Items {
		if slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
			return s.Namespace == driver.Namespace && slices.Contains(rights.OperandAccounts(d), s.Name)
		}) {
			out = append(out, b.Name)
		}
	}
	return out
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
