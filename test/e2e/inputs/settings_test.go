package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// settingsSchema is what the CRD says of spec.driverConfig.ceph.
func settingsSchema() map[string]any {
	GinkgoHelper()
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "manifests/crd-patch/clustercsidriver.patch.json"))
	Expect(err).NotTo(HaveOccurred())
	var operations []struct {
		Path  string
		Value any
	}
	Expect(json.Unmarshal(text, &operations)).To(Succeed())
	for _, o := range operations {
		if strings.HasSuffix(o.Path, "/driverConfig/properties/ceph") {
			return o.Value.(map[string]any)
		}
	}
	Fail("the CRD's patch does not add the settings")
	return nil
}

// everySetting has each member that a driver's settings know, with a value that is allowed.
func everySetting(d driver.Driver) map[string]any {
	pods := func(container string) map[string]any {
		amounts := func() map[string]any { return map[string]any{"memory": "100Mi"} }
		return map[string]any{
			"nodeSelector": map[string]any{"example.com/role": "storage"}, "priorityClassName": "system-node-critical",
			"resources":   map[string]any{container: map[string]any{"requests": amounts(), "limits": amounts()}},
			"tolerations": []any{map[string]any{"key": "example.com/a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": int64(5)}},
		}
	}
	out := map[string]any{
		"cluster": env.Cluster.Ceph().FSID(), "controller": pods("csi-provisioner"), "node": pods("csi-driver"),
		"credentials": "Mint", "keyType": "aes", "missingPools": "Report", "poolProtection": "Enabled", "withdrawAfter": "5s",
		"imageProtection": "Disabled", "kernelModules": "OnDemand", "readAffinity": []any{"topology.kubernetes.io/zone"},
		"outOfBand": []any{map[string]any{"namespace": "default", "configMap": "nosuch"}}, "rookNamespace": "rook-ceph",
	}
	own := map[string]map[string]any{
		driver.RBD.Name: {
			"pool": "a", "dataPool": "b", "imageFeatures": "layering", "mounter": "rbd", "mapOptions": "krbd:rxbounce",
		},
		driver.CephFS.Name: {
			"filesystem": "a", "subvolumeGroup": "csi", "mounter": "kernel", "kernelMountOptions": "ms_mode=crc", "fuseMountOptions": "debug",
		},
	}
	for name, value := range own[d.Name] {
		out[name] = value
	}
	return out
}

// annotated is a ClusterCSIDriver that has its settings in the annotation.
func annotated(d driver.Driver, member map[string]any) *unstructured.Unstructured {
	text, err := json.Marshal(member)
	Expect(err).NotTo(HaveOccurred())
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetName(d.Name)
	out.SetAnnotations(map[string]string{driver.SettingsAnnotation: string(text)})
	return out
}

// amounts are refused by the operator alone: a CRD cannot compare what may be number or text.
const amounts = "requests are not above their limits"

// disagreement is what API server and operator do not see alike; empty if they do.
func disagreement(ctx context.Context, d driver.Driver, field string, member map[string]any) string {
	cr, refused := env.Configure(ctx, d, member, metav1.DryRunAll)
	_, problem := settings.Read(d, annotated(d, member))
	switch {
	case problem != nil && strings.Contains(problem.Error(), amounts):
		return ""
	case (refused == nil) != (problem == nil):
		return fmt.Sprintf("the API server says %v, the operator says %v", refused, problem)
	case refused == nil:
		if _, err := settings.Read(d, cr); err != nil {
			return fmt.Sprintf("the operator takes it from the annotation, and in the spec says %v", err)
		}
	case !strings.Contains(refused.Error(), field):
		return fmt.Sprintf("the API server does not name %s: %v", field, refused)
	case !strings.Contains(problem.Error(), field):
		return fmt.Sprintf("the operator does not name %s: %v", field, problem)
	}
	return ""
}

// attempt is a driver's settings of which one has a value that may be wrong.
type attempt struct {
	field, says string
	// kind is where the value is, and its type.
	kind   string
	member map[string]any
}

func attempts(d driver.Driver) []attempt {
	all := everySetting(d)
	var out []attempt
	for _, l := range leaves(settingsSchema(), all) {
		for _, value := range values(l.schema) {
			out = append(out, attempt{l.path[0].(string), fmt.Sprintf("%v = %.60q", l.path, fmt.Sprint(value)), fmt.Sprintf("%v %T", l.path, value), with(all, l.path, value)})
		}
	}
	return out
}

// ofEachKind are up to so many of each, others with another seed: what follows a refusal does not depend on the value.
func ofEachKind(all []attempt, most int, random *rand.Rand) []attempt {
	out, met := slices.Clone(all), map[string]int{}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return slices.DeleteFunc(out, func(a attempt) bool {
		met[a.kind]++
		return met[a.kind] > most
	})
}

var _ = Describe("A setting", func() {
	for _, d := range driver.All {
		It("is refused by the operator as by the API server: "+d.Name, func(ctx SpecContext) {
			all := everySetting(d)
			for _, f := range d.Fields {
				Expect(all).To(HaveKey(f.Name))
			}
			Expect(disagreement(ctx, d, "", all)).To(BeEmpty())
			var wrong []string
			tried := some(attempts(d), 75)
			for _, a := range tried {
				if text := disagreement(ctx, d, a.field, a.member); text != "" {
					wrong = append(wrong, a.says+": "+text)
				}
			}
			AddReportEntry(fmt.Sprintf("%d values", len(tried)))
			Expect(wrong).To(BeEmpty(), strings.Join(wrong, "\n"))
		})

		It("that is refused changes nothing, and needs no restart to be mended: "+d.Name, func(ctx SpecContext) {
			before := standing(ctx, Default, d)
			mistakes := slices.DeleteFunc(attempts(d), func(a attempt) bool {
				_, err := settings.Read(d, annotated(d, a.member))
				return err == nil
			})
			for _, m := range some(ofEachKind(mistakes, 2, sample.Random(len(mistakes))), 6) {
				By(m.says)
				text := annotated(d, m.member).GetAnnotations()[driver.SettingsAnnotation]
				env.Kubectl(ctx, "annotate", "clustercsidriver", d.Name, driver.SettingsAnnotation+"="+text)
				said := told(ctx, d, condition.ResourcesDegraded, operatorv1.ConditionTrue, driver.SettingsAnnotation, m.field)
				Expect(said.Reason).To(Equal(condition.InvalidSettings))
				Expect(standing(ctx, Default, d)).To(Equal(before))
				env.Kubectl(ctx, "annotate", "clustercsidriver", d.Name, driver.SettingsAnnotation+"-")
				told(ctx, d, condition.ResourcesDegraded, operatorv1.ConditionFalse)
			}
			env.Settle(ctx)
			Expect(standing(ctx, Default, d)).To(Equal(before))
		})
	}
})
