// Package crdpatch makes and tests manifests/crd-patch, which lets the stock CRD of
// ClusterCSIDriver take the names and the settings of the Ceph drivers.
package crdpatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	schemaPath = "/spec/versions/0/schema/openAPIV3Schema"
	configPath = schemaPath + "/properties/spec/properties/driverConfig"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// property is a part of a schema, as far as the settings need one.
type property struct {
	Description          string               `json:"description,omitempty"`
	Type                 string               `json:"type,omitempty"`
	Enum                 []string             `json:"enum,omitempty"`
	Pattern              string               `json:"pattern,omitempty"`
	Minimum              *int                 `json:"minimum,omitempty"`
	MinLength            int                  `json:"minLength,omitempty"`
	MaxLength            int                  `json:"maxLength,omitempty"`
	MaxItems             int                  `json:"maxItems,omitempty"`
	MinProperties        int                  `json:"minProperties,omitempty"`
	MaxProperties        int                  `json:"maxProperties,omitempty"`
	Items                *property            `json:"items,omitempty"`
	AdditionalProperties *property            `json:"additionalProperties,omitempty"`
	Properties           map[string]*property `json:"properties,omitempty"`
	Required             []string             `json:"required,omitempty"`
	IntOrString          bool                 `json:"x-kubernetes-int-or-string,omitempty"`
	ListType             string               `json:"x-kubernetes-list-type,omitempty"`
	ListMapKeys          []string             `json:"x-kubernetes-list-map-keys,omitempty"`
	Validations          []celRule            `json:"x-kubernetes-validations,omitempty"`
}

type celRule struct {
	FieldPath string `json:"fieldPath,omitempty"`
	Message   string `json:"message"`
	Rule      string `json:"rule"`
}

// ofCRD are the first operations: without them, a patch could hit another CRD.
func ofCRD() []operation {
	return []operation{
		{"test", "/metadata/name", "clustercsidrivers.operator.openshift.io"},
		{"test", "/spec/versions/0/name", "v1"},
	}
}

// Patch is the JSON patch of the ClusterCSIDriver CRD that pkg/driver asks for, of whatever release of OpenShift.
func Patch() ([]byte, error) {
	operations := ofCRD()
	for _, d := range driver.All {
		operations = append(operations, operation{"add", schemaPath + "/properties/metadata/properties/name/enum/-", d.Name})
	}
	operations = append(operations,
		operation{"add", configPath + "/properties/driverType/enum/-", driver.DriverType},
		operation{"add", configPath + "/properties/ceph", member()},
		operation{"add", configPath + "/x-kubernetes-validations/-", celRule{
			Rule:    fmt.Sprintf("has(self.driverType) && self.driverType == '%s' ? has(self.ceph) : !has(self.ceph)", driver.DriverType),
			Message: fmt.Sprintf("ceph must be set if driverType is '%s', but remain unset otherwise", driver.DriverType),
		}},
	)
	return encode(operations)
}

// RulesPatch adds the rules that see the object's name. A JSON patch can add to a list only where there is one: the CRD
// has rules for the whole object since OpenShift 4.23.
func RulesPatch() ([]byte, error) {
	operations := ofCRD()
	for _, v := range belonging() {
		operations = append(operations, operation{"add", schemaPath + "/x-kubernetes-validations/-", v})
	}
	return encode(operations)
}

func encode(operations []operation) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(operations); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// member is the schema of spec.driverConfig.ceph: the fields of all drivers together.
func member() *property {
	out := &property{
		Description: "ceph is used to configure the Ceph CSI drivers.", Type: "object", Properties: map[string]*property{},
	}
	for _, d := range driver.All {
		for _, f := range d.Fields {
			schema := field(f)
			if other, known := out.Properties[f.Name]; known {
				schema.Enum = union(other.Enum, schema.Enum)
			}
			out.Properties[f.Name] = schema
		}
		for _, r := range d.Rules {
			out.Validations = append(out.Validations, celRule{FieldPath: "." + r.Field, Message: r.Message, Rule: r.CEL})
		}
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, value := range b {
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

func field(f driver.Field) *property {
	switch {
	case f.MaxItems > 0:
		return list(f)
	case f.MaxKeys > 0:
		return &property{
			Description: f.Doc, Type: "object", MinProperties: 1, MaxProperties: f.MaxKeys, AdditionalProperties: item(f),
			Validations: []celRule{{Rule: "self.all(key, " + allowed(f.Keys, "key") + ")", Message: "a key must be " + f.Keys.Must()}},
		}
	}
	out := item(f)
	out.Description = f.Doc
	return out
}

func list(f driver.Field) *property {
	out := &property{Description: f.Doc, Type: "array", MaxItems: f.MaxItems, ListType: "set", Items: item(f)}
	switch {
	case f.Repeats():
		out.ListType = "atomic"
	case f.Members != nil:
		out.ListType = "map"
		for _, m := range f.Members {
			out.ListMapKeys = append(out.ListMapKeys, m.Name)
		}
	}
	return out
}

// item is the value of a field, or of each item of a list or a map.
func item(f driver.Field) *property {
	if f.Members == nil {
		return text(f.Text)
	}
	out := &property{Type: "object", Properties: map[string]*property{}}
	for _, m := range f.Members {
		out.Properties[m.Name] = field(m)
		if !m.Optional {
			out.Required = append(out.Required, m.Name)
		}
	}
	for _, r := range f.Rules {
		if r.CEL != "" {
			out.Validations = append(out.Validations, celRule{Message: "must be " + r.Must, Rule: r.CEL})
		}
	}
	return out
}

// text has patterns as rules, because those have messages that a person understands.
func text(t driver.Text) *property {
	switch {
	case t.Number:
		return &property{Type: "integer", Minimum: new(int)}
	case t.OrNumber:
		// A rule would cost too much: nothing bounds the length of what may be a number, too.
		return &property{IntOrString: true, Minimum: new(int), Pattern: t.Pattern}
	case len(t.Enum) > 0:
		return &property{Type: "string", Enum: t.Enum, MaxLength: t.MaxLength}
	}
	out := &property{Type: "string", MaxLength: t.MaxLength, Validations: []celRule{{Rule: allowed(t, "self"), Message: "must be " + t.Must()}}}
	if !t.Empty {
		out.MinLength = 1
	}
	return out
}

// allowed is a rule for a variable.
func allowed(t driver.Text, variable string) string {
	if len(t.Enum) > 0 {
		return variable + " in ['" + strings.Join(t.Enum, "', '") + "']"
	}
	rule := variable + ".matches(" + quoted(t.Pattern) + ")"
	if t.Empty {
		rule = variable + " == '' || " + rule
	}
	if t.Never != "" {
		rule += " && !" + variable + ".matches(" + quoted(t.Never) + ")"
	}
	return rule
}

// quoted is a CEL string.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// belonging are the rules that give each driver its own fields. They stand at the root, where
// the name of the object can be seen.
func belonging() []celRule {
	const ceph = "self.spec.driverConfig.ceph"
	unset := "!has(self.spec.driverConfig) || !has(" + ceph + ") || !has(" + ceph + ".%[1]s) || "
	var names []string
	for _, d := range driver.All {
		names = append(names, d.Name)
	}
	out := []celRule{{
		Rule:    fmt.Sprintf("self.spec.?driverConfig.driverType.orValue('') == '%s' ? self.metadata.name in ['%s'] : true", driver.DriverType, strings.Join(names, "', '")),
		Message: fmt.Sprintf("driverType '%s' requires metadata.name '%s'", driver.DriverType, strings.Join(names, "' or '")),
	}}
	add := func(name, rule, message string) {
		out = append(out, celRule{FieldPath: ".spec.driverConfig.ceph." + name, Message: message, Rule: fmt.Sprintf(unset, name) + rule})
	}
	for _, d := range driver.All {
		for _, f := range d.Fields {
			switch common(f) {
			case own:
				add(f.Name, "self.metadata.name == "+quoted(d.Name), "is a setting of "+d.Name)
			case ownValues:
				add(f.Name, fmt.Sprintf("self.metadata.name != %s || %s.%s in ['%s']", quoted(d.Name), ceph, f.Name, strings.Join(f.Text.Enum, "', '")),
					"must be "+f.Text.Must()+" in "+d.Name)
			}
		}
	}
	return out
}

// kinship is what a field of one driver has in common with the fields of the others.
type kinship int

const (
	own kinship = iota
	ownValues
	shared
)

func common(f driver.Field) kinship {
	out := shared
	for _, d := range driver.All {
		i := slices.IndexFunc(d.Fields, func(other driver.Field) bool { return other.Name == f.Name })
		if i < 0 {
			return own
		}
		if !slices.Equal(d.Fields[i].Text.Enum, f.Text.Enum) {
			out = ownValues
		}
	}
	return out
}
