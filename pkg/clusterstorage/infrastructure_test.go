package clusterstorage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func infrastructureOf(owner, name string) *configv1.Infrastructure {
	out := &configv1.Infrastructure{ObjectMeta: ownInstance()}
	out.Labels[driver.ManagedByLabel] = owner
	out.Status.InfrastructureName = name
	out.Status.InfrastructureTopology = configv1.SingleReplicaTopologyMode
	out.Status.ControlPlaneTopology = configv1.ExternalTopologyMode
	return out
}

func TestInfrastructure(t *testing.T) {
	edited := infrastructureOf(Name, "harvester-1")
	edited.Status.ControlPlaneTopology = configv1.HighlyAvailableTopologyMode
	tests := map[string]struct {
		reason string
		there  *configv1.Infrastructure
		nodes  []string
		name   string
		// writes are the verbs that change something.
		writes string
	}{
		"Edited":  {"pods would look for nodes of a control plane", edited, []string{"a"}, "harvester-1", "update"},
		"Missing": {"it is made, and described", nil, []string{"a"}, "kubernetes-3f2a9c1d4b7e", "create update"},
		"Killed":  {"between the two writes", infrastructureOf(Name, ""), []string{"a"}, "kubernetes-3f2a9c1d4b7e", "update"},
		"Done":    {"nothing is written twice", infrastructureOf(Name, "harvester-1"), []string{"a"}, "harvester-1", ""},
		"Grown":   {"controllers get a second replica", infrastructureOf(Name, "harvester-1"), []string{"a", "b", "c"}, "harvester-1", "update"},
		"Foreign": {"somebody else describes the cluster", infrastructureOf("someone", "theirs"), []string{"a", "b"}, "theirs", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kube := kubefake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: metav1.NamespaceSystem, UID: "3f2a9c1d-4b7e-4d11-9a55-0c1d2e3f4a5b",
			}})
			for _, node := range tc.nodes {
				if err := kube.Tracker().Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}); err != nil {
					t.Fatal(err)
				}
			}
			var objects []runtime.Object
			if tc.there != nil {
				objects = append(objects, tc.there)
			}
			config := configfake.NewSimpleClientset(objects...)
			s := starter{clients: &clients{kube: kube, config: config, configInformers: configinformers.NewSharedInformerFactory(config, 0)}}
			s.clients.configInformers.Config().V1().Infrastructures().Informer()
			s.clients.configInformers.Start(t.Context().Done())
			s.clients.configInformers.WaitForCacheSync(t.Context().Done())
			if wrong, err := s.infrastructure(t.Context()); wrong != nil || err != nil {
				t.Fatal(wrong, err)
			}
			got, err := config.ConfigV1().Infrastructures().Get(t.Context(), instance, metav1.GetOptions{})
			if err != nil || got.Status.InfrastructureName != tc.name {
				t.Errorf("%s: %v, %+v", tc.reason, err, got.Status)
			}
			var writes []string
			for _, a := range config.Actions() {
				if a.GetVerb() == "create" || a.GetVerb() == "update" {
					writes = append(writes, a.GetVerb())
				}
			}
			if have := strings.Join(writes, " "); have != tc.writes {
				t.Errorf("%s: writes %q, want %q", tc.reason, have, tc.writes)
			}
		})
	}
}

// TestOtherInfraIDOfAnEarlierInstallation: Infrastructure outlives an uninstallation, Storage does
// not; without Storage nobody would read why nothing is installed.
func TestOtherInfraIDOfAnEarlierInstallation(t *testing.T) {
	dynamic := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{storages: "StorageList"})
	config := configfake.NewSimpleClientset(infrastructureOf(Name, "first"))
	c := &clients{
		kube: kubefake.NewClientset(), config: config, dynamic: dynamic,
		configInformers:  configinformers.NewSharedInformerFactory(config, 0),
		storageInstances: dynamicinformer.NewDynamicSharedInformerFactory(dynamic, 0),
	}
	known := c.configInformers.Config().V1()
	known.Infrastructures().Informer()
	known.Proxies().Informer()
	known.APIServers().Informer()
	c.configInformers.Start(t.Context().Done())
	c.configInformers.WaitForCacheSync(t.Context().Done())
	err := starter{clients: c, Options: Options{InfraID: "second"}}.ensureSingletons(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--infra-id is second, but this cluster is first") {
		t.Errorf("got %v", err)
	}
	if _, err := dynamic.Resource(storages).Get(t.Context(), instance, metav1.GetOptions{}); err != nil {
		t.Errorf("nobody is told: %v", err)
	}
}
