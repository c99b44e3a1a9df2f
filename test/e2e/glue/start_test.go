package glue

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// reporting has ClusterOperator storage written.
const reporting = `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--report-cluster-operator"}]`

func bare() {
	It("is Available after `oc apply -f manifests/`, and starts nothing while no Ceph cluster is declared", func(ctx SpecContext) {
		env.Kubectl(ctx, "apply", "-f", "manifests/")
		env.Kubectl(ctx, "-n", driver.Namespace, "patch", "deployment", fixture.GlueAccount, "--type=json", "-p", reporting)
		Eventually(func(g Gomega) {
			env.ExpectStatus(ctx, g, "True", "False", "False")
			_, message := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorAvailable)
			g.Expect(message).To(ContainSubstring("oc create secret generic " + driver.CredentialsSecret))
			g.Expect(env.ClusterOperator(ctx, g).Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: "0.0.1-snapshot"}))
		}).WithContext(ctx).Should(Succeed())
		expectNothingStarted(ctx)
	})

	It("changes nothing when the manifests are applied again", func(ctx SpecContext) {
		out := env.Kubectl(ctx, "diff", "-f", "manifests/01_namespace.yaml", "-f", "manifests/06_granted_clusterrole.yaml")
		Expect(out).To(BeEmpty())
	})
}

func expectNothingStarted(ctx SpecContext) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		for _, d := range driver.All {
			_, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, d.OperatorName(), metav1.GetOptions{})
			g.Expect(err).To(Satisfy(beNotFound), d.OperatorName())
			_, err = env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			g.Expect(err).To(Satisfy(beNotFound), d.Name)
		}
	}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
}

// stockCRD has the cluster version operator put its own CRD back.
func stockCRD() {
	It("says what to do when the CRD does not know the drivers, and starts none", func(ctx SpecContext) {
		env.PutStockCRDBack(ctx)
		tuneStorage(ctx, func(s *operatorv1.StorageSpec) { s.LogLevel = operatorv1.Debug })
		env.Declare(ctx, env.Credentials())
		Eventually(func(g Gomega) {
			c := storageCondition(ctx, g, "CephCRDPatchDegraded")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue))
			g.Expect(c.Reason).To(Equal("CRDNotPatched"))
			g.Expect(c.Message).To(ContainSubstring("oc patch crd " + fixture.DriverCRD + " --type=json --patch-file " + fixture.DriverCRDPatch))
		}).WithContext(ctx).Should(Succeed())
		for _, d := range driver.All {
			_, err := env.Drivers.Create(ctx, &operatorv1.ClusterCSIDriver{ObjectMeta: metav1.ObjectMeta{Name: d.Name}}, metav1.CreateOptions{})
			Expect(configs.Explain(err)).To(MatchError(ContainSubstring(configs.PatchCommand)), "what cluster-storage-operator says")
		}
		expectNothingStarted(ctx)
	})
}

// stockAgain has the cluster version operator do so while the drivers run.
func stockAgain() {
	It("is content with the stock CRD once the drivers are there, and says how settings are edited", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			env.Kubectl(ctx, "patch", "crd", fixture.DriverCRD, "--type=json", "--patch-file", fixture.DriverCRDPatch)
		})
		env.PutStockCRDBack(ctx)
		Eventually(func(g Gomega) {
			c := storageCondition(ctx, g, "CephCRDPatchDegraded")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse))
			g.Expect(c.Message).To(And(ContainSubstring("drops spec.driverConfig.ceph"), ContainSubstring(driver.SettingsAnnotation)))
		}).WithContext(ctx).Should(Succeed())
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).
			WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

// deletedUnderStock is what a person can do meanwhile, and what mends it.
func deletedUnderStock() {
	It("does not go on to praise a ClusterCSIDriver that was deleted under the stock CRD", func(ctx SpecContext) {
		prefix := driver.CephFS.ConditionPrefix + "CSIDriverOperatorCR"
		env.PutStockCRDBack(ctx)
		env.Kubectl(ctx, "delete", "clustercsidriver", driver.CephFS.Name)
		Eventually(func(g Gomega) {
			c := storageCondition(ctx, g, "CephCRDPatchDegraded")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue))
			g.Expect(c.Message).To(And(ContainSubstring(driver.CephFS.Name), ContainSubstring(fixture.DriverCRDPatch)))
			for _, kind := range []string{"Available", "Degraded", "Progressing", "Upgradeable"} {
				g.Expect(storageCondition(ctx, g, prefix+kind)).To(BeZero(), prefix+kind)
			}
			g.Expect(storageCondition(ctx, g, driver.RBD.ConditionPrefix+"CSIDriverOperatorCRAvailable").Status).To(Equal(operatorv1.ConditionTrue))
		}).WithContext(ctx).Should(Succeed())
		env.Kubectl(ctx, "patch", "crd", fixture.DriverCRD, "--type=json", "--patch-file", fixture.DriverCRDPatch)
		Eventually(func(g Gomega) {
			g.Expect(storageCondition(ctx, g, prefix+"Available").Status).To(Equal(operatorv1.ConditionTrue))
			env.ExpectStatus(ctx, g, "True", "False", "False")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

func declared() {
	It("asks, once the CRD is patched, for the sidecars' shared roles, which nobody brought", func(ctx SpecContext) {
		env.Kubectl(ctx, "patch", "crd", fixture.DriverCRD, "--type=json", "--patch-file", fixture.DriverCRDPatch)
		var command string
		Eventually(func(g Gomega) {
			c := storageCondition(ctx, g, "CephSharedRolesDegraded")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue))
			_, command, _ = strings.Cut(c.Message, ": oc ")
			for name := range assets.SharedRoles() {
				g.Expect(command).To(ContainSubstring(name))
			}
		}).WithContext(ctx).Should(Succeed())
		env.Kubectl(ctx, strings.Fields(command)...)
		Eventually(func(g Gomega) {
			g.Expect(storageCondition(ctx, g, "CephSharedRolesDegraded").Status).To(Equal(operatorv1.ConditionFalse))
		}).WithContext(ctx).Should(Succeed())
	})

	It("starts both drivers, and ends Available", func(ctx SpecContext) {
		env.Settle(ctx)
		Eventually(func(g Gomega) {
			env.ExpectStatus(ctx, g, "True", "False", "False")
			g.Expect(storageCondition(ctx, g, "CephCRDPatchDegraded").Status).To(Equal(operatorv1.ConditionFalse))
			for _, d := range driver.All {
				for suffix, want := range map[string]operatorv1.ConditionStatus{
					"CSIDriverOperatorCRAvailable": operatorv1.ConditionTrue, "CSIDriverOperatorCRProgressing": operatorv1.ConditionFalse,
					"CSIDriverOperatorCRDegraded": operatorv1.ConditionFalse, "CSIDriverOperatorCRUpgradeable": operatorv1.ConditionTrue,
					"CSIDriverOperatorDegraded": operatorv1.ConditionFalse, "Progressing": operatorv1.ConditionFalse,
					"CSIDriverOperatorDeploymentDegraded":               operatorv1.ConditionFalse,
					"CSIDriverOperatorStaticControllerDegraded":         operatorv1.ConditionFalse,
					"CSIDriverOperatorServiceMonitorControllerDegraded": operatorv1.ConditionFalse,
				} {
					c := storageCondition(ctx, g, d.ConditionPrefix+suffix)
					g.Expect(c.Status).To(Equal(want), "%s: %s", d.ConditionPrefix+suffix, c.Message)
				}
			}
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})

	It("did not call the storage unavailable before an operator had reported", func() {
		reported := firstReport()
		Expect(reported).NotTo(BeZero())
		for _, v := range env.History.Of(fixture.Kind("ClusterOperator")) {
			got, message := fixture.Status(clusterOperatorOf(v), configv1.OperatorAvailable)
			if v.Revision() < reported {
				Expect(got).To(BeElementOf("True", "absent"), "revision %d: %s", v.Revision(), message)
			}
			Expect(message).NotTo(ContainSubstring("to report"))
		}
	})

	It("gave the drivers the log level of Storage/cluster, and leaves it to their administrator afterwards", func(ctx SpecContext) {
		for _, d := range driver.All {
			cr, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(cr.Spec.LogLevel).To(Equal(operatorv1.Debug))
			Expect(cr.Spec.OperatorLogLevel).To(Equal(operatorv1.Debug))
		}
		tuneStorage(ctx, func(s *operatorv1.StorageSpec) { s.LogLevel = operatorv1.Normal })
		env.Tune(ctx, driver.RBD, func(s *operatorv1.ClusterCSIDriverSpec) { s.LogLevel = operatorv1.Trace })
		Eventually(func(g Gomega) {
			operator, err := env.Kube.AppsV1().Deployments(driver.Namespace).Get(ctx, driver.RBD.OperatorName(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(operator.Spec.Template.Spec.Containers[0].Args).To(ContainElement("-v=2"))
			for _, c := range env.Controller(ctx, g, driver.RBD).Spec.Template.Spec.Containers {
				if c.Name == "csi-driver" {
					g.Expect(c.Args).To(ContainElement("--v=6"))
				}
			}
		}).WithContext(ctx).Should(Succeed())
		cr, err := env.Drivers.Get(ctx, driver.CephFS.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(cr.Spec.LogLevel).To(Equal(operatorv1.Debug), "an existing ClusterCSIDriver is its administrator's")
		env.Settle(ctx)
	})
}

// firstReport is the revision in which a driver first had a condition of type …Available.
func firstReport() uint64 {
	for _, v := range env.History.Of(fixture.Kind("ClusterCSIDriver")) {
		content, err := v.Object.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		if strings.Contains(string(content), `Available"`) {
			return v.Revision()
		}
	}
	return 0
}
