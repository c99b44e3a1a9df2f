package clusterstorage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const stockCRD = "../../vendor/github.com/openshift/api/operator/v1/zz_generated.crd-manifests/0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml"

// crdObject is the CRD of openshift/api, patched or not, as the informer keeps it.
func crdObject(t *testing.T, patched bool) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(stockCRD))
	if err != nil {
		t.Fatal(err)
	}
	if content, err = yaml.YAMLToJSON(content); err != nil {
		t.Fatal(err)
	}
	if patched {
		raw, err := os.ReadFile("../../manifests/crd-patch/clustercsidriver.patch.json")
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(raw)
		if err != nil {
			t.Fatal(err)
		}
		if content, err = patch.Apply(content); err != nil {
			t.Fatal(err)
		}
	}
	crd := &unstructured.Unstructured{}
	if err := crd.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	trimmed, err := trimCRD(crd)
	if err != nil {
		t.Fatal(err)
	}
	// Informers may transform twice.
	if trimmed, err = trimCRD(trimmed); err != nil {
		t.Fatal(err)
	}
	return trimmed.(*unstructured.Unstructured)
}

func TestCRDCondition(t *testing.T) {
	both := []string{driver.RBD.Name, driver.CephFS.Name}
	tests := map[string]struct {
		reason     string
		crd        *unstructured.Unstructured
		refused    []string
		kubernetes bool
		want       operatorv1.ConditionStatus
		says       []string
	}{
		"Patched": {"all is there", crdObject(t, true), nil, false, no, nil},
		"Stock":   {"the cluster version operator has put its own back before a driver was wanted", crdObject(t, false), both, false, yes, append(both, configs.PatchCommand)},
		"Later":   {"it has done so afterwards: nothing is lost", crdObject(t, false), nil, false, no, []string{driver.SettingsAnnotation, configs.PatchCommand}},
		"Missing": {"a cluster without the kind", nil, both, false, yes, []string{configs.PatchCommand}},
		"Plain":   {"there is nothing of OpenShift to talk to", crdObject(t, false), both, true, yes, []string{driver.RBD.Name, ApplyCRDCommand}},
		"Older":   {"the CRD of an earlier version of the manifests", crdObject(t, false), nil, true, no, []string{driver.SettingsAnnotation, ApplyCRDCommand}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := crdCondition(tc.crd, tc.refused, tc.kubernetes)
			if *got.Status != tc.want {
				t.Errorf("%s: %s: %s", tc.reason, *got.Status, *got.Message)
			}
			for _, text := range tc.says {
				if !strings.Contains(*got.Message, text) {
					t.Errorf("%s: %q does not say %q", tc.reason, *got.Message, text)
				}
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	free := &unstructured.Unstructured{Object: map[string]any{}}
	for _, d := range driver.All {
		if !accepts(crdObject(t, true), d.Name) || accepts(crdObject(t, false), d.Name) || accepts(nil, d.Name) {
			t.Errorf("%s: the patch decides", d.Name)
		}
		if !accepts(free, d.Name) {
			t.Errorf("%s: a CRD that restricts no name accepts it", d.Name)
		}
	}
}

// TestCommandIsTheReadmes: what the condition says must be what the README explains.
func TestCommandIsTheReadmes(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "    "+configs.PatchCommand+"\n") {
		t.Errorf("README.md does not have the command %s", configs.PatchCommand)
	}
}

func TestOtherCRDsAreOnlyNames(t *testing.T) {
	crd := &unstructured.Unstructured{Object: map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"versions": []any{}}}}
	crd.SetName(serviceMonitors.GroupResource().String())
	trimmed, err := trimCRD(crd)
	if err != nil {
		t.Fatal(err)
	}
	if object := trimmed.(*unstructured.Unstructured); object.Object["spec"] != nil || object.GetName() != serviceMonitors.GroupResource().String() {
		t.Errorf("%v", object.Object)
	}
}
