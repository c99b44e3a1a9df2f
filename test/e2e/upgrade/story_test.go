package upgrade

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
)

// move is a way from one version to another.
type move struct {
	to former.Release
	// began and ended are before the manifests are applied, and when all is reported to be there.
	began, ended time.Time
	// from is the last revision before.
	from uint64
}

// moves are those of the story so far.
var moves []move

// move applies the manifests of a release and waits until the cluster reports it and rests.
func moveTo(ctx context.Context, to former.Release) {
	GinkgoHelper()
	m := move{to: to, began: time.Now(), from: newest()}
	apply(ctx, to)
	Eventually(func(g Gomega) {
		g.Expect(env.ClusterOperator(ctx, g).Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: to.Version}))
		available, message := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorAvailable)
		g.Expect(available).To(Equal("True"), message)
		progressing, message := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorProgressing)
		g.Expect(progressing).To(Equal("False"), message)
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	m.ended = time.Now()
	// A version whose roles are not there yet, or no longer, is refused what it asks for.
	env.Lawless(m.began, m.ended)
	moves = append(moves, m)
	fmt.Fprintf(GinkgoWriter, "%s after %.1f s\n", to.Version, m.ended.Sub(m.began).Seconds())
}

// newest is the last revision that was seen of anything.
func newest() uint64 {
	var out uint64
	for _, v := range env.History.Of(func(fixture.Version) bool { return true }) {
		out = max(out, v.Revision())
	}
	return out
}

// useFormer installs the former version, with settings and volumes.
func useFormer(ctx context.Context) {
	GinkgoHelper()
	apply(ctx, before)
	env.Declare(ctx, env.Credentials())
	env.Settle(ctx)
	tune(ctx)
	use(ctx)
	env.Settle(ctx)
	learnFormerBindings(ctx)
	env.Rest(ctx) // What tuning rolls out would count as a part of the first move.
}

func installed() {
	It("runs the former version, with settings and volumes", func(ctx SpecContext) {
		patchCRD(ctx, before)
		useFormer(ctx)
		moveTo(ctx, before) // Nothing changes.
		remember(ctx)
	})
}

func upgraded() {
	It("comes to this version, though the cluster version operator puts the stock CRD back first", func(ctx SpecContext) {
		plantOldConditions(ctx)
		putStockCRDBack(ctx)
		moveTo(ctx, present)
		expectWell(ctx)
		expectNothingLost(ctx)
	})

	It("has brought what the former version stored to its own formats", func(ctx SpecContext) {
		expectPresentFormats(ctx)
	})

	It("has no condition of the former version left", func(ctx SpecContext) {
		expectNoOldConditions(ctx)
	})

	It("has the drivers' pods bound to no more than an installation of this version has", func(ctx SpecContext) {
		expectPresentBindings(ctx)
	})
}

func rolledBack() {
	It("goes back to the former version, which reads what this one has written", func(ctx SpecContext) {
		patchCRD(ctx, before)
		moveTo(ctx, before)
		expectNothingLost(ctx)
		expectFormerBindings(ctx)
	})
}

func upgradedAgain() {
	It("comes to this version again, though a node is not ready and one is cordoned", func(ctx SpecContext) {
		putStockCRDBack(ctx)
		haveAllNodes := lackNodes(ctx)
		moveTo(ctx, present)
		haveAllNodes(ctx)
		expectWell(ctx)
		expectNothingLost(ctx)
		expectPresentFormats(ctx)
		expectPresentBindings(ctx)
	})
}

// upgradedPlainly goes the same way, where the CRD comes with the manifests.
func upgradedPlainly() {
	It("comes to this version on a Kubernetes without OpenShift, and back, and here again", func(ctx SpecContext) {
		useFormer(ctx)
		moveTo(ctx, before)
		remember(ctx)
		narrowSharedRole(ctx)
		for _, to := range []former.Release{present, before, present} {
			moveTo(ctx, to)
			expectNothingLost(ctx)
			if to == present {
				Expect(sharedRole(ctx).Rules).To(Equal(shippedRules()), "it was narrower")
				narrowSharedRole(ctx)
				expectPresentBindings(ctx)
			} else {
				expectFormerBindings(ctx)
			}
		}
		expectWell(ctx)
	})
}

// narrowedRole is a role of the sidecars that an earlier version made with fewer rules.
const narrowedRole = "openshift-csi-main-provisioner-role"

func sharedRole(ctx context.Context) *rbacv1.ClusterRole {
	GinkgoHelper()
	out, err := env.Kube.RbacV1().ClusterRoles().Get(ctx, narrowedRole, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return out
}

func narrowSharedRole(ctx context.Context) {
	GinkgoHelper()
	role := sharedRole(ctx)
	role.Rules = role.Rules[:1]
	_, err := env.Kube.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func shippedRules() []rbacv1.PolicyRule {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(assets.SharedRoles()[narrowedRole], role)).To(Succeed())
	return role.Rules
}

// expectWell waits until nothing is complained of.
func expectWell(ctx context.Context) {
	GinkgoHelper()
	env.Settle(ctx)
	Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).
		WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	for _, d := range driver.All {
		cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(cr.Spec.ManagementState).To(Equal(operatorv1.Managed))
	}
}
