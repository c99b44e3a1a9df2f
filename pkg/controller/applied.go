package controller

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// What somebody has applied to an operator's resource stands in metadata.managedFields.
// client-go's applyconfigurations tell it too, but with the schema of all of operator.openshift.io:
// to parse and to check against it was a third of what an operator allocates at its start.

// AppliedSpec returns what manager has applied to the spec of obj; nil when that is nothing. An error
// names obj.
func AppliedSpec(obj *unstructured.Unstructured, manager string) (*applyoperatorv1.OperatorSpecApplyConfiguration, error) {
	return part[applyoperatorv1.OperatorSpecApplyConfiguration](obj, manager, "", "spec")
}

// AppliedStatus returns what manager has applied to the status of obj; nil when that is nothing. An error
// names obj.
func AppliedStatus(obj *unstructured.Unstructured, manager string) (*applyoperatorv1.OperatorStatusApplyConfiguration, error) {
	return part[applyoperatorv1.OperatorStatusApplyConfiguration](obj, manager, "status", "status")
}

// AppliedAnnotation says whether manager has applied that annotation of obj, and nobody has changed it since.
func AppliedAnnotation(obj *unstructured.Unstructured, manager, key string) bool {
	metadata := asMap(record(obj, manager, "")[fieldPrefix+"metadata"])
	_, applied := asMap(metadata[fieldPrefix+"annotations"])[fieldPrefix+key]
	return applied
}

func part[T any](obj *unstructured.Unstructured, manager, subresource, name string) (*T, error) {
	fields := record(obj, manager, subresource)
	of, recorded := fields[fieldPrefix+name].(map[string]any)
	value, there := obj.Object[name].(map[string]any)
	if !recorded || !there {
		return nil, nil
	}
	out := new(T)
	kept, _ := keep(value, of).(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kept, out); err != nil {
		return nil, fmt.Errorf("reading what %q has applied to the %s of %s %s: %w", manager, name, obj.GetKind(), obj.GetName(), err)
	}
	return out, nil
}

// record returns the fields that manager has applied; nil when there are none.
func record(obj *unstructured.Unstructured, manager, subresource string) map[string]any {
	all, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", "managedFields")
	entries, _ := all.([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		under, _ := entry["subresource"].(string)
		if entry["manager"] == manager && entry["operation"] == "Apply" && under == subresource {
			fields, _ := entry["fieldsV1"].(map[string]any)
			return fields
		}
	}
	return nil
}

// What names in fieldsV1 start with; "." is the field itself beside what is in it. See
// https://github.com/kubernetes-sigs/structured-merge-diff/blob/master/fieldpath/serialize-pe.go
const (
	fieldPrefix = "f:"
	keyPrefix   = "k:"
	valuePrefix = "v:"
	itself      = "."
)

// keep returns the fields of value that are recorded; all of it where none in it is.
func keep(value any, fields map[string]any) any {
	_, whole := fields[itself]
	if len(fields) == 0 || whole && len(fields) == 1 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range fields {
			if inner, there := value[strings.TrimPrefix(name, fieldPrefix)]; there && name != itself {
				out[strings.TrimPrefix(name, fieldPrefix)] = keep(inner, asMap(below))
			}
		}
		return out
	case []any:
		var out []any
		for _, item := range value {
			for name, below := range fields {
				if isItem(item, name) {
					out = append(out, keep(item, asMap(below)))
				}
			}
		}
		return out
	}
	return value
}

// isItem says whether name is that of a list's item: by some of its fields, or by its value.
func isItem(item any, name string) bool {
	if text, ok := strings.CutPrefix(name, valuePrefix); ok {
		var value any
		return json.Unmarshal([]byte(text), &value) == nil && reflect.DeepEqual(value, item)
	}
	text, ok := strings.CutPrefix(name, keyPrefix)
	in, isMap := item.(map[string]any)
	var keys map[string]any
	if !ok || !isMap || json.Unmarshal([]byte(text), &keys) != nil {
		return false
	}
	for key, value := range keys {
		// The API server writes a default into keys that an item leaves out.
		if held, there := in[key]; value != held && (there || value != "") {
			return false
		}
	}
	return true
}

func asMap(fields any) map[string]any {
	out, _ := fields.(map[string]any)
	return out
}
