package deploy

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// creations are the revisions at which objects of the kinds came to be, after the start of the
// recording, by "Kind name".
func creations() map[string]fixture.Version {
	out := map[string]fixture.Version{}
	for _, v := range env.History.Of(func(v fixture.Version) bool { return v.Type == watch.Added && v.At.After(started) }) {
		out[v.Object.GetKind()+" "+v.Object.GetName()] = v
	}
	return out
}

// mounted are the objects that pods of the template cannot start without.
func mounted(pod corev1.PodSpec) []string {
	out := []string{"ServiceAccount " + pod.ServiceAccountName}
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			out = append(out, "Secret "+v.Secret.SecretName)
		}
		if v.ConfigMap != nil {
			out = append(out, "ConfigMap "+v.ConfigMap.Name)
		}
	}
	return out
}

var _ = Describe("Objects are created in an order that works without retries:", func() {
	It("each role before its bindings", func() {
		created := creations()
		bindings := 0
		for name, v := range created {
			kind, _, _ := unstructured.NestedString(v.Object.Object, "roleRef", "kind")
			role, _, _ := unstructured.NestedString(v.Object.Object, "roleRef", "name")
			r, ours := created[kind+" "+role]
			if kind == "" || !ours {
				continue
			}
			bindings++
			Expect(r.Revision()).To(BeNumerically("<", v.Revision()), "%s before %s", role, name)
		}
		Expect(bindings).To(BeNumerically(">=", 2*len(driver.All)))
	})

	for _, d := range driver.All {
		It("ServiceAccounts, Secrets and ConfigMaps before the pods that mount them: "+d.Name, func(ctx SpecContext) {
			created := creations()
			check := func(workload string, pod corev1.PodSpec) {
				w, found := created[workload]
				Expect(found).To(BeTrue(), workload)
				for _, name := range mounted(pod) {
					Expect(created).To(HaveKey(name), fmt.Sprintf("%s mounts %s", workload, name))
					Expect(created[name].Revision()).To(BeNumerically("<", w.Revision()), "%s before %s", name, workload)
				}
			}
			check("Deployment "+d.ControllerName(), env.Controller(ctx, Default, d).Spec.Template.Spec)
			check("DaemonSet "+d.NodeName(), env.Node(ctx, Default, d).Spec.Template.Spec)
		})

		It("the permissions of pods before the pods: "+d.Name, func() {
			created := creations()
			for _, workload := range []string{"Deployment " + d.ControllerName(), "DaemonSet " + d.NodeName()} {
				for name, v := range created {
					subjects, _, _ := unstructured.NestedSlice(v.Object.Object, "subjects")
					for _, s := range subjects {
						subject, _, _ := unstructured.NestedString(s.(map[string]any), "name")
						if subject == d.ControllerName()+"-sa" || subject == d.NodeName()+"-sa" {
							Expect(v.Revision()).To(BeNumerically("<", created[workload].Revision()), "%s before %s", name, workload)
						}
					}
				}
			}
		})
	}
})
