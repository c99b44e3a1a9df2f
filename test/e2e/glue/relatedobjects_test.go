package glue

import (
	"bytes"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func containsImage(content []byte, image string) bool {
	return bytes.Contains(content, []byte(`"image":"`+image+`"`))
}

// relatedObjects does what must-gather does.
func relatedObjects() {
	It("leads must-gather to all that a supporter needs, and to no key", func(ctx SpecContext) {
		groups, err := env.Kube.Discovery().ServerPreferredResources()
		Expect(err).NotTo(HaveOccurred())
		var collected strings.Builder
		collect := func(resource schema.GroupVersionResource, namespace, name string) {
			GinkgoHelper()
			object, err := env.Dynamic.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred(), "%s %s/%s", resource.Resource, namespace, name)
			content, err := object.MarshalJSON()
			Expect(err).NotTo(HaveOccurred())
			if resource.Resource == "secrets" {
				return // must-gather leaves out what is in them.
			}
			collected.WriteString(resource.Resource + "/" + name + "\n")
			Expect(env.HoldsKey(content)).To(BeFalse(), "a key in %s %s/%s", resource.Resource, namespace, name)
		}
		for _, related := range env.ClusterOperator(ctx, Default).Status.RelatedObjects {
			for _, group := range groups {
				gv, err := schema.ParseGroupVersion(group.GroupVersion)
				Expect(err).NotTo(HaveOccurred())
				for _, r := range group.APIResources {
					if gv.Group == related.Group && r.Name == related.Resource {
						collect(gv.WithResource(r.Name), related.Namespace, related.Name)
					}
					if related.Resource != "namespaces" || !r.Namespaced || !strings.Contains(strings.Join(r.Verbs, " "), "list") {
						continue
					}
					list, err := env.Dynamic.Resource(gv.WithResource(r.Name)).Namespace(related.Name).List(ctx, metav1.ListOptions{})
					Expect(err).NotTo(HaveOccurred())
					for _, item := range list.Items {
						collected.WriteString(r.Name + "/" + item.GetName() + "\n")
						content, err := item.MarshalJSON()
						Expect(err).NotTo(HaveOccurred())
						Expect(r.Name != "secrets" && env.HoldsKey(content)).To(BeFalse(), "a key in %s %s", r.Name, item.GetName())
					}
				}
			}
		}
		for _, d := range driver.All {
			for _, wanted := range []string{
				"clustercsidrivers/" + d.Name, "csidrivers/" + d.Name, "storageclasses/" + d.StorageClass, "volumesnapshotclasses/" + d.SnapshotClass,
				"deployments/" + d.OperatorName(), "deployments/" + d.ControllerName(), "daemonsets/" + d.NodeName(),
				"configmaps/" + d.StateConfigMap(), "secrets/" + d.ConfigSecret(), "clusterroles/" + d.OperatorName() + "-clusterrole",
				"storages/cluster", "customresourcedefinitions/" + fixture.DriverCRD, "deployments/ceph-cluster-storage",
			} {
				Expect(strings.Split(collected.String(), "\n")).To(ContainElement(wanted))
			}
		}
	})
}
