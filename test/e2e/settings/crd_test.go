package settings

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func editAnnotation(ctx context.Context, d driver.Driver, text string) {
	GinkgoHelper()
	env.Kubectl(ctx, "annotate", "clustercsidriver", d.Name, "--overwrite", driver.SettingsAnnotation+"="+text)
}

func annotation(ctx context.Context, g Gomega, d driver.Driver) string {
	GinkgoHelper()
	cr, err := env.DriverResources().Get(ctx, d.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return cr.GetAnnotations()[driver.SettingsAnnotation]
}

// openUp takes the schema of the settings away, as on a CRD of an earlier version.
func openUp(ctx context.Context) {
	GinkgoHelper()
	env.ChangeDriverCRD(ctx, func(crd *unstructured.Unstructured) {
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		Expect(err).NotTo(HaveOccurred())
		root := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		delete(root, "x-kubernetes-validations")
		Expect(unstructured.SetNestedMap(root, map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			"properties", "spec", "properties", "driverConfig", "properties", "ceph")).To(Succeed())
		Expect(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")).To(Succeed())
	})
}

// untouched is what must stay as it is whatever happens to the settings.
func untouched(ctx context.Context, g Gomega, d driver.Driver) []any {
	GinkgoHelper()
	sc := class(ctx, g, d)
	return []any{sc.UID, sc.Parameters, env.Controller(ctx, g, d).Generation, env.Node(ctx, g, d).Generation}
}

var secondCommand = regexp.MustCompile(`oc patch clustercsidriver (\S+) --type=merge -p '(.*)'$`)

var _ = Describe("A CRD", func() {
	d := driver.RBD
	fields := map[string]any{"mapOptions": "krbd:rxbounce", "imageFeatures": "layering"}
	tell := func(ctx context.Context, conditionType string) operatorv1.OperatorCondition {
		var out operatorv1.OperatorCondition
		Eventually(func(g Gomega) {
			out = env.Condition(ctx, g, d, conditionType)
			g.Expect(out.Type).NotTo(BeEmpty())
			g.Expect(out.Reason).NotTo(Equal(condition.AsExpected))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		return out
	}
	silent := func(ctx context.Context, conditionType string) {
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, d, conditionType)).To(BeZero())
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	}
	mended := func(ctx context.Context) {
		Eventually(func(g Gomega) {
			c := env.Condition(ctx, g, d, condition.ResourcesDegraded)
			g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse), c.Message)
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	}
	inForce := func(ctx context.Context) {
		Eventually(func(g Gomega) {
			g.Expect(class(ctx, g, d).Parameters).To(HaveKeyWithValue("mapOptions", "krbd:rxbounce"))
			g.Expect(class(ctx, g, d).Parameters).To(HaveKeyWithValue("imageFeatures", "layering"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Eventually(func(g Gomega) {
			state, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state.Data["settings"]).To(ContainSubstring("krbd:rxbounce"))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	}

	It("of the stock release takes the settings away, and nothing changes", func(ctx SpecContext) {
		set(ctx, d, fields)
		inForce(ctx)
		before := untouched(ctx, Default, d)

		DeferCleanup(func(ctx SpecContext) { env.PutStockCRDBack(ctx); env.PatchDriverCRD(ctx, Default) })
		env.PutStockCRDBack(ctx)
		Eventually(func(g Gomega) { g.Expect(member(ctx, g, d)).To(BeNil()) }).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		By("writing anything, which loses what the CRD does not know")
		_, err := env.DriverResources().Patch(ctx, d.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"example.com/any":"1"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		said := tell(ctx, condition.SettingsComplete)
		Expect(said.Status).To(Equal(operatorv1.ConditionFalse))
		Expect(said.Message).To(ContainSubstring("oc patch crd " + fixture.DriverCRD + " --type=json --patch-file " + fixture.DriverCRDPatch))
		command := secondCommand.FindStringSubmatch(said.Message)
		Expect(command).To(HaveLen(3), said.Message)
		Expect(command[1]).To(Equal(d.Name))
		Expect(member(ctx, Default, d)).To(BeNil(), "the API server has lost them")

		By("stopping the operator and starting it again")
		Expect(env.Operator(d).Stop(ctx)).To(Succeed())
		Expect(env.Operator(d).Restart()).To(Succeed())
		env.Settle(ctx)
		Consistently(func(g Gomega) {
			g.Expect(untouched(ctx, g, d)).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
		Expect(tell(ctx, condition.SettingsComplete).Message).To(Equal(said.Message))
		Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty())

		By("doing what the message says")
		env.PatchDriverCRD(ctx, Default)
		Eventually(func(g Gomega) {
			_, err := env.DriverResources().Patch(ctx, d.Name, types.MergePatchType, []byte(command[2]), metav1.PatchOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(member(ctx, g, d)).To(Equal(fields))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		silent(ctx, condition.SettingsComplete)
		Expect(untouched(ctx, Default, d)).To(Equal(before))
	})

	It("of the stock release, put back again and again, lets one edit settings and log level all the same", func(ctx SpecContext) {
		set(ctx, d, fields)
		inForce(ctx)
		DeferCleanup(func(ctx SpecContext) { env.PutStockCRDBack(ctx); env.PatchDriverCRD(ctx, Default) })
		stop := env.PutStockCRDBackEach(ctx, 5*time.Second)
		DeferCleanup(stop)
		Eventually(func(g Gomega) { g.Expect(member(ctx, g, d)).To(BeNil()) }).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())

		for _, edit := range []struct {
			options   string
			level     operatorv1.LogLevel
			verbosity string
		}{
			{"krbd:rxbounce", operatorv1.Debug, "--v=4"},
			{"krbd:rxbounce,noudev", operatorv1.Trace, "--v=6"},
			{"krbd:noudev", operatorv1.Normal, "--v=2"},
		} {
			By("editing the annotation: " + edit.options)
			editAnnotation(ctx, d, `{"imageFeatures":"layering","mapOptions":"`+edit.options+`"}`)
			Eventually(func(g Gomega) {
				g.Expect(class(ctx, g, d).Parameters).To(HaveKeyWithValue("mapOptions", edit.options))
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			By("editing the log level, and starting the operator again")
			_, err := env.DriverResources().Patch(ctx, d.Name, types.MergePatchType, []byte(`{"spec":{"logLevel":"`+string(edit.level)+`"}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(env.Operator(d).Stop(ctx)).To(Succeed())
			Expect(env.Operator(d).Restart()).To(Succeed())
			// Conditions are those of the operator that has ended until this one has acted.
			Eventually(func(g Gomega) {
				for _, template := range []corev1.PodTemplateSpec{env.Controller(ctx, g, d).Spec.Template, env.Node(ctx, g, d).Spec.Template} {
					g.Expect(fixture.Container(g, template, "csi-driver").Args).To(ContainElement(edit.verbosity))
				}
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			env.Settle(ctx)
			Expect(class(ctx, Default, d).Parameters).To(HaveKeyWithValue("mapOptions", edit.options))
			Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty())
		}

		By("making a mistake")
		editAnnotation(ctx, d, `{"mounter":"quantum"}`)
		Expect(tell(ctx, condition.ResourcesDegraded).Message).To(ContainSubstring(
			"metadata.annotations[" + driver.SettingsAnnotation + `].mounter is "quantum", must be one of "rbd", "rbd-nbd"; the settings that were valid last go on`))
		Expect(class(ctx, Default, d).Parameters).To(HaveKeyWithValue("mapOptions", "krbd:noudev"))
		editAnnotation(ctx, d, `{"imageFeatures":"layering","mapOptions":"krbd:noudev"}`)
		mended(ctx)

		By("patching the CRD, and taking the settings away")
		stop()
		env.PatchDriverCRD(ctx, Default)
		Eventually(func(g Gomega) {
			_, err := env.Configure(ctx, d, fields)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(env.Condition(ctx, g, d, condition.SettingsComplete)).To(BeZero())
			g.Expect(annotation(ctx, g, d)).To(MatchJSON(`{"imageFeatures":"layering","mapOptions":"krbd:rxbounce"}`))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		_, err := env.Configure(ctx, d, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			g.Expect(annotation(ctx, g, d)).To(BeEmpty())
			g.Expect(class(ctx, g, d).Parameters).NotTo(HaveKey("mapOptions"))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})

	It("without a schema lets nonsense through, and the last valid settings go on", func(ctx SpecContext) {
		set(ctx, d, fields)
		inForce(ctx)
		before := untouched(ctx, Default, d)

		DeferCleanup(func(ctx SpecContext) { env.PutStockCRDBack(ctx); env.PatchDriverCRD(ctx, Default) })
		openUp(ctx)
		Eventually(func(g Gomega) {
			_, err := env.Configure(ctx, d, map[string]any{"mounter": "quantum", "filesystem": "a"})
			g.Expect(err).NotTo(HaveOccurred())
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		said := tell(ctx, condition.ResourcesDegraded)
		Expect(said.Reason).To(Equal(condition.InvalidSettings))
		Expect(said.Message).To(SatisfyAll(
			ContainSubstring(`spec.driverConfig.ceph.mounter is "quantum", must be one of "rbd", "rbd-nbd"`),
			ContainSubstring(`spec.driverConfig.ceph.filesystem is "a", must be left out: it is a setting of cephfs.csi.ceph.com`),
			HaveSuffix("the settings that were valid last go on")))
		Consistently(func(g Gomega) {
			g.Expect(untouched(ctx, g, d)).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())

		_, err := env.Configure(ctx, d, fields)
		Expect(err).NotTo(HaveOccurred())
		mended(ctx)
		Expect(untouched(ctx, Default, d)).To(Equal(before))
	})

	It("may be patched again by a newer operator's patch", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { env.PutStockCRDBack(ctx); env.PatchDriverCRD(ctx, Default) })
		env.PatchDriverCRD(ctx, Default)
		env.ChangeDriverCRD(ctx, func(crd *unstructured.Unstructured) {
			text, err := json.Marshal(crd.Object["spec"])
			Expect(err).NotTo(HaveOccurred())
			Expect(string(text)).To(ContainSubstring(`"ceph"`))
		})
	})
})
