package virtualization

import (
	"cmp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// deletion is what somebody wants to delete, and an image in the same namespace.
type deletion struct {
	resource, kind, user string
	object, image        map[string]any
}

// evaluate has the API server's own code say whether the policy lets pass, and what it tells.
func evaluate(t *testing.T, policy *unstructured.Unstructured, d deletion) (passes bool, message string) {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	options := cel.OptionalVariableDeclarations{HasParams: true}
	list := func(key string) []any {
		out, _, _ := unstructured.NestedSlice(policy.Object, "spec", key)
		return out
	}
	text := func(from any, key string) string { return from.(map[string]any)[key].(string) }
	var variables []cel.NamedExpressionAccessor
	for _, v := range list("variables") {
		variables = append(variables, &validating.Variable{Name: text(v, "name"), Expression: text(v, "expression")})
	}
	compiler.CompileAndStoreVariables(variables, options, environment.NewExpressions)
	validation := list("validations")[0]
	condition := compiler.CompileCondition([]cel.ExpressionAccessor{
		&validating.ValidationCondition{Expression: text(list("matchConditions")[0], "expression")},
		&validating.ValidationCondition{Expression: text(validation, "expression")},
		&validating.MessageExpressionCondition{MessageExpression: text(validation, "messageExpression")},
	}, options, environment.NewExpressions)

	resource, kind := schema.GroupVersionResource{Version: "v1", Resource: d.resource}, schema.GroupVersionKind{Version: "v1", Kind: d.kind}
	object := &unstructured.Unstructured{Object: d.object}
	attributes := admission.NewAttributesRecord(nil, object, kind, "n", "disk", resource, "", admission.Delete, &metav1.DeleteOptions{}, false, &user.DefaultInfo{Name: d.user})
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedOldObject: object, VersionedKind: kind}
	request := cel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	results, _, err := condition.ForInput(t.Context(), versioned, request,
		cel.OptionalVariableBindings{VersionedParams: &unstructured.Unstructured{Object: d.image}}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Error != nil {
			t.Fatal(r.Error)
		}
	}
	concerned, holds := results[0].EvalResult.Value().(bool), results[1].EvalResult.Value().(bool)
	return !concerned || holds, results[2].EvalResult.Value().(string)
}

func TestPolicies(t *testing.T) {
	const claim, volume, snapshot = "persistentvolumeclaims", "datavolumes", "volumesnapshots"
	named := func(name string, fields map[string]any) map[string]any {
		metadata := map[string]any{"name": name, "namespace": "n"}
		out := map[string]any{"metadata": metadata}
		for key, value := range fields {
			if key == "labels" || key == "annotations" || key == "deletionTimestamp" {
				metadata[key] = value
				continue
			}
			out[key] = value
		}
		return out
	}
	of := func(class string) map[string]any {
		return map[string]any{"spec": map[string]any{"storageClassName": class}}
	}
	left := func(provisioner string) map[string]any {
		return map[string]any{"spec": of("removed")["spec"], "annotations": map[string]any{"volume.kubernetes.io/storage-provisioner": provisioner}}
	}
	shot := map[string]any{"spec": map[string]any{"volumeSnapshotClassName": "s"}}
	imported := map[string]any{"spec": map[string]any{"storageClassName": "a"}, "labels": map[string]any{"cdi.kubevirt.io/dataImportCron": "weekly"}}
	source := func(kind, name, namespace string) map[string]any {
		reference := map[string]any{"name": name}
		if namespace != "" {
			reference["namespace"] = namespace
		}
		return named("source", map[string]any{"spec": map[string]any{"source": map[string]any{kind: reference}}})
	}
	const vm, ds, cron = 0, 1, 2
	tests := map[string]struct {
		kind   int
		d      deletion
		passes bool
	}{
		"Image":         {vm, deletion{resource: claim, object: named("disk", of("a")), image: named("disk", nil)}, false},
		"OtherImage":    {vm, deletion{resource: claim, object: named("disk", of("a")), image: named("other", nil)}, true},
		"OtherClass":    {vm, deletion{resource: claim, object: named("disk", of("longhorn")), image: named("disk", nil)}, true},
		"RemovedClass":  {vm, deletion{resource: claim, object: named("disk", left("rbd.csi.ceph.com")), image: named("disk", nil)}, false},
		"OtherRemoved":  {vm, deletion{resource: claim, object: named("disk", left("driver.longhorn.io")), image: named("disk", nil)}, true},
		"NoClass":       {vm, deletion{resource: claim, object: named("disk", nil), image: named("disk", nil)}, true},
		"Lost":          {vm, deletion{resource: claim, object: named("disk", map[string]any{"spec": of("a")["spec"], "status": map[string]any{"phase": "Lost"}}), image: named("disk", nil)}, true},
		"Ending":        {vm, deletion{resource: claim, object: named("disk", of("a")), image: named("disk", map[string]any{"deletionTimestamp": "now"})}, true},
		"Collector":     {vm, deletion{resource: claim, user: "system:serviceaccount:kube-system:generic-garbage-collector", object: named("disk", of("a")), image: named("disk", nil)}, true},
		"CDI":           {vm, deletion{resource: claim, user: "system:serviceaccount:openshift-cnv:cdi-sa", object: named("disk", of("a")), image: named("disk", nil)}, true},
		"LikeCDI":       {vm, deletion{resource: claim, user: "cdi-sa", object: named("disk", of("a")), image: named("disk", nil)}, false},
		"DataVolume":    {vm, deletion{resource: volume, object: named("disk", map[string]any{"spec": map[string]any{"storage": map[string]any{"storageClassName": "b"}}}), image: named("disk", nil)}, false},
		"OldDataVolume": {vm, deletion{resource: volume, object: named("disk", map[string]any{"spec": map[string]any{"pvc": map[string]any{"storageClassName": "x"}}}), image: named("disk", nil)}, true},
		"DefaultClass":  {vm, deletion{resource: volume, object: named("disk", map[string]any{"spec": map[string]any{"storage": map[string]any{}}}), image: named("disk", nil)}, false},
		"Snapshot":      {vm, deletion{resource: snapshot, object: named("disk", shot), image: named("disk", nil)}, true},
		"Source":        {ds, deletion{resource: claim, object: named("disk", of("a")), image: source("pvc", "disk", "n")}, false},
		"SourceHere":    {ds, deletion{resource: volume, object: named("disk", nil), image: source("pvc", "disk", "")}, false},
		"SourceAway":    {ds, deletion{resource: claim, object: named("disk", of("a")), image: source("pvc", "disk", "m")}, true},
		"SourceShot":    {ds, deletion{resource: snapshot, object: named("disk", shot), image: source("snapshot", "disk", "n")}, false},
		"SourceNotShot": {ds, deletion{resource: claim, object: named("disk", of("a")), image: source("snapshot", "disk", "n")}, true},
		"NoSource":      {ds, deletion{resource: claim, object: named("disk", of("a")), image: named("source", nil)}, true},
		"Imported":      {cron, deletion{resource: claim, object: named("disk", imported), image: named("weekly", nil)}, false},
		"OtherCron":     {cron, deletion{resource: claim, object: named("disk", imported), image: named("daily", nil)}, true},
		"NotImported":   {cron, deletion{resource: claim, object: named("disk", of("a")), image: named("weekly", nil)}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.d.kind, tc.d.user = "Disk", cmp.Or(tc.d.user, "an administrator")
			classes := struct{ volumes, snapshots string }{"['a', 'b']", "['s']"}
			k := imageKinds[tc.kind]
			passes, message := evaluate(t, k.protection(driver.RBD, schema.GroupVersion{Group: "g", Version: "v1"}, classes), tc.d)
			if passes != tc.passes {
				t.Errorf("passes: %t", passes)
			}
			if want := "Disk disk holds the disk image of " + k.kind + " "; !strings.HasPrefix(message, want) {
				t.Errorf("got %q, want %q", message, want)
			}
		})
	}
}
