package inputs

import (
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// damages are what may have become of JSON that the operator has written.
var damages = map[string]string{
	"cut off": `{"fsid":"`, "empty": "", "of another kind": `[7]`, "a text": `"x"`, "members of other kinds": `{"fsid":7,"id":[],"pool":{},"uid":1,"ceph":"x","minted":"x"}`, "no text": "\xff\xfe{}",
}

// complaint waits until a condition says all of that.
func complaint(ctx context.Context, d driver.Driver, says ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var messages []string
		for _, c := range env.Conditions(ctx, g, d) {
			messages = append(messages, c.Message)
		}
		var all []types.GomegaMatcher
		for _, text := range says {
			all = append(all, ContainSubstring(text))
		}
		g.Expect(messages).To(ContainElement(And(all...)))
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}

// remember replaces what the operator remembers.
func remember(ctx context.Context, d driver.Driver, data map[string]string) {
	GinkgoHelper()
	configMaps := env.Kube.CoreV1().ConfigMaps(driver.Namespace)
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := configMaps.Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		current.Data = data
		_, err = configMaps.Update(ctx, current, metav1.UpdateOptions{})
		return err
	})).To(Succeed())
}

func remembered(ctx context.Context, g Gomega, d driver.Driver) map[string]string {
	GinkgoHelper()
	state, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return state.Data
}

// damage is one of them, of one thing that is remembered.
type damage struct{ key, what string }

var _ = Describe("What an operator remembers", func() {
	for _, d := range driver.All {
		It("is not overwritten where it is damaged, nor taken for nothing: "+d.Name, func(ctx SpecContext) {
			before, right := standing(ctx, Default, d), remembered(ctx, Default, d)
			var all []damage
			for _, key := range slices.Sorted(maps.Keys(right)) {
				if key == "version" {
					continue
				}
				for _, what := range slices.Sorted(maps.Keys(damages)) {
					all = append(all, damage{key, what})
				}
			}
			for i, one := range some(all, 5) {
				By(one.key + ": " + one.what)
				wrong := maps.Clone(right)
				wrong[one.key] = damages[one.what]
				remember(ctx, d, wrong)
				complaint(ctx, d, d.StateConfigMap(), `"`+one.key+`"`)
				if i == 0 { // with nothing else to go by
					env.Operator(d).Kill()
					Expect(env.Operator(d).Restart()).To(Succeed())
					complaint(ctx, d, d.StateConfigMap(), `"`+one.key+`"`)
					env.Rest(ctx)
				}
				Expect(remembered(ctx, Default, d)).To(HaveKeyWithValue(one.key, damages[one.what]))
				Expect(standing(ctx, Default, d)).To(Equal(before))
				remember(ctx, d, right)
				env.Settle(ctx)
			}
			env.Rest(ctx)
			Expect(standing(ctx, Default, d)).To(Equal(before))
			Expect(remembered(ctx, Default, d)).To(Equal(right))
		})

		It("of mons is not overwritten where it is damaged: "+d.Name, func(ctx SpecContext) {
			before := standing(ctx, Default, d)
			secrets := env.Kube.CoreV1().Secrets(driver.Namespace)
			write := func(content []byte) {
				secret, err := secrets.Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				secret.Data["config.json"] = content
				_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			right, err := secrets.Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			for _, text := range []string{"{", `{"clusterID":"x"}`, `[{"clusterID":7}]`, `[7]`, "\xff", `[{"clusterID":"a","monitors":"b"}]`} {
				By(text)
				write([]byte(text))
				complaint(ctx, d, d.ConfigSecret(), "config.json")
				now, err := secrets.Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(string(now.Data["config.json"])).To(Equal(text))
				write(right.Data["config.json"])
				env.Settle(ctx)
			}
			Expect(standing(ctx, Default, d)).To(Equal(before))
		})
	}
})
