package crdpatch

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// validator returns a function that tells why a ClusterCSIDriver of a name and a driverConfig is refused.
func validator(t *testing.T, crd []byte) func(t *testing.T, name, config string) string {
	t.Helper()
	refusal := objectValidator(t, crd)
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
		return refusal(object)
	}
}

// objectValidator returns a function that tells why an object of the CRD's kind is refused.
func objectValidator(t *testing.T, crd []byte) func(object map[string]any) string {
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
	return func(object map[string]any) string {
		errs := validation.ValidateCustomResource(nil, object, schemas)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
		if len(errs) == 0 {
			errs, _ = rules.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
		}
		if err := errs.ToAggregate(); err != nil {
			return err.Error()
		}
		return ""
	}
}
