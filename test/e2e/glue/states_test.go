package glue

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func managementStates() {
	It("repairs nothing while Storage/cluster is Unmanaged", func(ctx SpecContext) {
		tuneStorage(ctx, func(s *operatorv1.StorageSpec) { s.ManagementState = operatorv1.Unmanaged })
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "Unknown", "Unknown", "Unknown") }).WithContext(ctx).Should(Succeed())
		deleteService(ctx)
		Consistently(getService).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Satisfy(beNotFound))
	})

	It("removes nothing, repairs nothing and says so while it is Removed", func(ctx SpecContext) {
		tuneStorage(ctx, func(s *operatorv1.StorageSpec) { s.ManagementState = operatorv1.Removed })
		Eventually(func(g Gomega) {
			c := storageCondition(ctx, g, "ManagementStateDegraded")
			g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue), c.Message)
		}).WithContext(ctx).Should(Succeed())
		Consistently(getService).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Satisfy(beNotFound))
		for _, d := range driver.All {
			_, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("goes on when it is Managed again", func(ctx SpecContext) {
		tuneStorage(ctx, func(s *operatorv1.StorageSpec) { s.ManagementState = operatorv1.Managed })
		Eventually(getService).WithContext(ctx).Should(Succeed())
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

// inertia is how long ClusterOperators keep from calling themselves Degraded, and the resync
// in which they notice that it is over.
const inertia = 4 * fixture.Patience

func degraded() {
	It("is Degraded with the driver's own message when a driver is", func(ctx SpecContext) {
		wrong := env.Credentials()
		wrong["ceph.conf"] = []byte("nothing here")
		env.Declare(ctx, wrong)
		var message string
		Eventually(func(g Gomega) {
			own := env.Condition(ctx, g, driver.RBD, "CephConnectionDegraded")
			g.Expect(own.Status).To(Equal(operatorv1.ConditionTrue))
			message = own.Message
			sum := storageCondition(ctx, g, "CephRBDCSIDriverOperatorCRDegraded")
			g.Expect(sum.Status).To(Equal(operatorv1.ConditionTrue))
			g.Expect(sum.Message).To(ContainSubstring(message))
		}).WithContext(ctx).Should(Succeed())
		Eventually(func(g Gomega) {
			got, text := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorDegraded)
			g.Expect(got).To(Equal("True"))
			g.Expect(text).To(ContainSubstring(message))
		}).WithContext(ctx).WithTimeout(inertia).Should(Succeed())
		expectAvailable(ctx)
		env.Declare(ctx, env.Credentials())
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

// notUpgradeable has what a driver remembers look as an earlier version wrote it, while this one may not write it anew.
func notUpgradeable() {
	It("is not Upgradeable while a driver remembers something in an earlier version's format", func(ctx SpecContext) {
		upgradeable := func(g Gomega, status, text string) {
			got, said := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorUpgradeable)
			g.Expect(got).To(Equal(status), said)
			g.Expect(said).To(ContainSubstring(text))
		}
		env.Tune(ctx, driver.RBD, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.ManagementState = operatorv1.Unmanaged })
		Eventually(func(g Gomega) {
			withoutField(ctx, g, "placement", "journalNamespace")
			upgradeable(g, "False", driver.RBD.StateConfigMap()+" has placement as an earlier version of this operator wrote it")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		expectAvailable(ctx)
		env.Tune(ctx, driver.RBD, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.ManagementState = operatorv1.Managed })
		Eventually(func(g Gomega) { upgradeable(g, "True", "") }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

// withoutField takes a field out of a record of RBD's state, if it is there.
func withoutField(ctx context.Context, g Gomega, key, field string) {
	configMaps := env.Kube.CoreV1().ConfigMaps(driver.Namespace)
	stored, err := configMaps.Get(ctx, driver.RBD.StateConfigMap(), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var record map[string]any
	g.Expect(json.Unmarshal([]byte(stored.Data[key]), &record)).To(Succeed())
	delete(record, field)
	content, err := json.Marshal(record)
	g.Expect(err).NotTo(HaveOccurred())
	stored.Data[key] = string(content)
	_, err = configMaps.Update(ctx, stored, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

func expectAvailable(ctx SpecContext) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		got, message := fixture.Status(env.ClusterOperator(ctx, g), configv1.OperatorAvailable)
		g.Expect(got).To(Equal("True"), message)
	}).WithContext(ctx).Should(Succeed())
}

// stoodDown has a cluster-storage-operator that knows Ceph start and go.
func stoodDown() {
	const kind = "CephRBDCSIDriverOperatorDeploymentDegraded"
	apply := func(ctx SpecContext, conditions ...map[string]any) {
		GinkgoHelper()
		content, err := json.Marshal(map[string]any{
			"apiVersion": "operator.openshift.io/v1", "kind": "Storage", "metadata": map[string]any{"name": "cluster"},
			"status": map[string]any{"conditions": append([]map[string]any{}, conditions...)},
		})
		Expect(err).NotTo(HaveOccurred())
		force := true
		_, err = storages.Patch(ctx, "cluster", types.ApplyPatchType, content,
			metav1.PatchOptions{FieldManager: "CephRBDCSIDriverOperatorDeployment-reportDegraded", Force: &force}, "status")
		Expect(err).NotTo(HaveOccurred())
	}

	It("stands down for a cluster-storage-operator that knows Ceph", func(ctx SpecContext) {
		setCSO(ctx, corev1.EnvVar{Name: configs.EnvOperatorImage, Value: newOperator})
		apply(ctx, map[string]any{"type": kind, "status": "False", "reason": "AsExpected", "message": "mine", "lastTransitionTime": "2026-01-01T00:00:00Z"})
		Eventually(func(g Gomega) {
			storage, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, m := range storage.ManagedFields {
				g.Expect(m.Manager).NotTo(HavePrefix("ceph-cluster-storage-"))
			}
			g.Expect(storageCondition(ctx, g, kind).Message).To(Equal("mine"))
			g.Expect(storageCondition(ctx, g, "CephFSCSIDriverOperatorCRAvailable").Type).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
		deleteService(ctx)
		Consistently(getService).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Satisfy(beNotFound))
	})

	It("comes back when that knows Ceph no more, whose conditions nobody has taken away", func(ctx SpecContext) {
		setCSO(ctx)
		Eventually(getService).WithContext(ctx).Should(Succeed())
	})

	It("leaves ClusterOperator storage to it, and reports again once it is gone", func(ctx SpecContext) {
		const kind = "CephClusterOperatorReported"
		Eventually(func(g Gomega) {
			g.Expect(storageCondition(ctx, g, kind).Message).To(ContainSubstring("--report-cluster-operator"))
			g.Expect(storageCondition(ctx, g, "CephClusterStorageAvailable").Type).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
		Expect(env.Kube.AppsV1().Deployments(csoNamespace).Delete(ctx, csoName, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(storageCondition(ctx, g, kind).Type).To(BeEmpty())
			g.Expect(storageCondition(ctx, g, "CephClusterStorageAvailable").Status).To(Equal(operatorv1.ConditionTrue))
			env.ExpectStatus(ctx, g, "True", "False", "False")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}

// profiled changes the TLS profile of the cluster. Who follows it already does so by each policy, says the API.
func profiled() {
	for _, policy := range fixture.TLSAdherences {
		It(fmt.Sprintf("has itself and the operators serve with the cluster's TLS profile, tlsAdherence being %q", policy), func(ctx SpecContext) {
			env.ServeTLSAdherence(ctx, policy)
			configured := func(minimum string) {
				GinkgoHelper()
				for _, name := range []string{fixture.GlueAccount + "-config", driver.RBD.OperatorName() + "-config", driver.CephFS.OperatorName() + "-config"} {
					Eventually(func(g Gomega) {
						configMap, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
						g.Expect(err).NotTo(HaveOccurred())
						g.Expect(configMap.Data["config.yaml"]).To(ContainSubstring("minTLSVersion: "+minimum), name)
					}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
				}
			}
			DeferCleanup(env.Cluster.SetTLSProfile, (*configv1.TLSSecurityProfile)(nil))
			Expect(env.Cluster.SetTLSProfile(ctx, &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}})).To(Succeed())
			configured("VersionTLS13")
			Expect(env.Cluster.SetTLSProfile(ctx, nil)).To(Succeed())
			configured("VersionTLS12")
			env.Settle(ctx)
		})
	}
}

const csoNamespace, csoName = "openshift-cluster-storage-operator", "cluster-storage-operator"

// setCSO has a cluster-storage-operator with these variables, which runs nowhere.
func setCSO(ctx context.Context, variables ...corev1.EnvVar) {
	GinkgoHelper()
	deployment := applyappsv1.Deployment(csoName, csoNamespace).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(0).
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{"name": csoName})).
		WithTemplate(applycorev1.PodTemplateSpec().WithLabels(map[string]string{"name": csoName}).
			WithSpec(applycorev1.PodSpec().WithContainers(applycorev1.Container().WithName(csoName).WithImage(csoName)))))
	for _, v := range variables {
		deployment.Spec.Template.Spec.Containers[0].WithEnv(applycorev1.EnvVar().WithName(v.Name).WithValue(v.Value))
	}
	_, err := env.Kube.AppsV1().Deployments(csoNamespace).Apply(ctx, deployment, metav1.ApplyOptions{FieldManager: "cluster-version-operator", Force: true})
	Expect(err).NotTo(HaveOccurred())
}
