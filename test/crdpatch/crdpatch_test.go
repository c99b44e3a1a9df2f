// Package crdpatch tests manifests/crd-patch, which lets the stock CRD of ClusterCSIDriver
// take the names and the settings of the Ceph drivers.
package crdpatch

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	_ "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	patchFile  = "manifests/crd-patch/clustercsidriver.patch.json"
	crdPackage = "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"
	crdPattern = "0000_50_csi-driver_01_clustercsidrivers-*.crd.yaml"
)

// variants are openshift/api's CRDs by feature set, with and without the patch.
func variants(t *testing.T) map[string]struct{ stock, patched []byte } {
	t.Helper()
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repository.PackageDir(context.Background(), root, crdPackage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, crdPattern))
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d files %s in %s, want one for each feature set (%v)", len(files), crdPattern, dir, err)
	}
	raw, err := os.ReadFile(filepath.Join(root, patchFile))
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		t.Fatalf("%s: %v", patchFile, err)
	}
	out := map[string]struct{ stock, patched []byte }{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stock, err := yaml.YAMLToJSON(content)
		if err != nil {
			t.Fatal(err)
		}
		patched, err := patch.Apply(stock)
		if err != nil {
			t.Fatalf("%s does not apply to %s: %v", patchFile, filepath.Base(file), err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".crd.yaml")
		out[name[strings.LastIndex(name, "-")+1:]] = struct{ stock, patched []byte }{stock, patched}
	}
	return out
}

// TestPatchAdds shows that nothing of a stock CRD is lost.
func TestPatchAdds(t *testing.T) {
	for name, v := range variants(t) {
		t.Run(name, func(t *testing.T) {
			var stock, patched any
			if err := json.Unmarshal(v.stock, &stock); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(v.patched, &patched); err != nil {
				t.Fatal(err)
			}
			if lost := missing("", stock, patched); len(lost) > 0 {
				t.Errorf("the patch takes away or changes %v", lost)
			}
		})
	}
}

// missing lists the paths of what a has and b has not.
func missing(path string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(a)) {
			out = append(out, missing(path+"/"+key, a[key], b[key])...)
		}
		return out
	case []any:
		b, _ := b.([]any)
		if len(b) < len(a) {
			return []string{path}
		}
		var out []string
		for i := range a {
			out = append(out, missing(path+"[]", a[i], b[i])...)
		}
		return out
	}
	if a != b {
		return []string{path}
	}
	return nil
}

// TestPatchedCRD asks the API server's own code what the patched CRDs accept.
func TestPatchedCRD(t *testing.T) {
	tests := map[string]struct {
		reason string
		name   string
		config string // spec.driverConfig, as YAML
		want   string // a part of the error, empty when accepted
	}{
		"RBDDefaults":      {reason: "no driverConfig means defaults", name: driver.RBD.Name, config: "null"},
		"CephFSDefaults":   {reason: "no driverConfig means defaults", name: driver.CephFS.Name, config: "null"},
		"Settings":         {reason: "the member is open", name: driver.RBD.Name, config: "{driverType: Ceph, ceph: {pool: p, x: {y: [1]}}}"},
		"Empty":            {reason: "an empty member is a member", name: driver.RBD.Name, config: "{driverType: Ceph, ceph: {}}"},
		"OtherDriver":      {reason: "the names of others still count", name: "ebs.csi.aws.com", config: "{driverType: AWS}"},
		"UnknownName":      {reason: "names stay a closed list", name: "foo.csi.ceph.com", config: "null", want: "metadata.name: Unsupported value"},
		"NoMember":         {reason: "this is what a stock CRD makes of it", name: driver.RBD.Name, config: "{driverType: Ceph}", want: "ceph must be set if driverType is 'Ceph', but remain unset otherwise"},
		"MemberOfAnother":  {reason: "the union is strict", name: "ebs.csi.aws.com", config: "{driverType: AWS, ceph: {}}", want: "ceph must be set"},
		"MemberOfNone":     {reason: "the union is strict", name: driver.RBD.Name, config: "{driverType: '', ceph: {}}", want: "ceph must be set"},
		"MemberNoObject":   {reason: "settings are an object", name: driver.RBD.Name, config: "{driverType: Ceph, ceph: 5}", want: "must be of type object"},
		"DriverTypeAbsent": {reason: "stock rule", name: driver.RBD.Name, config: "{ceph: {}}", want: "driverType: Required value"},
	}
	for variant, v := range variants(t) {
		accepts := validator(t, v.patched)
		for name, tc := range tests {
			t.Run(variant+"/"+name, func(t *testing.T) {
				got := accepts(t, tc.name, tc.config)
				if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			})
		}
	}
}

// validator returns a function that tells why a ClusterCSIDriver is refused.
func validator(t *testing.T, crd []byte) func(t *testing.T, name, config string) string {
	t.Helper()
	ctx := context.Background()
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(crd, &v1); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, &internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1"}
	if errs := crdvalidation.ValidateCustomResourceDefinition(ctx, &internal); len(errs) > 0 {
		t.Fatalf("the API server would refuse the patched CRD: %v", errs)
	}
	props := internal.Spec.Versions[0].Schema
	if props == nil {
		props = internal.Spec.Validation
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	schemas, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return func(t *testing.T, name, config string) string {
		t.Helper()
		var object map[string]any
		manifest := "{apiVersion: operator.openshift.io/v1, kind: ClusterCSIDriver, metadata: {name: " + name + "}, spec: {managementState: Managed}}"
		if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
			t.Fatal(err)
		}
		var driverConfig map[string]any
		if err := yaml.Unmarshal([]byte(config), &driverConfig); err != nil {
			t.Fatal(err)
		}
		if driverConfig != nil {
			object["spec"].(map[string]any)["driverConfig"] = driverConfig
		}
		errs := validation.ValidateCustomResource(nil, object, schemas)
		if len(errs) == 0 {
			errs, _ = rules.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
		}
		if err := errs.ToAggregate(); err != nil {
			return err.Error()
		}
		return ""
	}
}
