package inputs

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
)

// leaf is a member of a schema that has no members of its own: names, and indexes of arrays.
type leaf struct {
	path   []any
	schema map[string]any
}

// leaves are those of a schema that a document has; a member that the document lacks is an error.
func leaves(schema map[string]any, document any, path ...any) []leaf {
	at := func(step any) []any { return append(slices.Clone(path), step) }
	switch properties, _ := schema["properties"].(map[string]any); {
	case properties != nil:
		members, _ := document.(map[string]any)
		var out []leaf
		for _, name := range slices.Sorted(maps.Keys(members)) {
			Expect(properties).To(HaveKey(name), "%v", path)
			out = append(out, leaves(properties[name].(map[string]any), members[name], at(name)...)...)
		}
		return out
	case schema["additionalProperties"] != nil:
		var out []leaf
		for name, value := range document.(map[string]any) {
			out = append(out, leaves(schema["additionalProperties"].(map[string]any), value, at(name)...)...)
		}
		return out
	case schema["items"] != nil:
		return leaves(schema["items"].(map[string]any), document.([]any)[0], at(0)...)
	}
	return []leaf{{path, schema}}
}

// with is a copy of a document that has a value at a path.
func with(document map[string]any, path []any, value any) map[string]any {
	out := runtime.DeepCopyJSON(document)
	var place any = out
	for i, step := range path {
		last := i == len(path)-1
		switch step := step.(type) {
		case string:
			if last {
				place.(map[string]any)[step] = value
			}
			place = place.(map[string]any)[step]
		case int:
			if last {
				place.([]any)[step] = value
			}
			place = place.([]any)[step]
		}
	}
	return out
}

// texts are what breaks programs that take any text for a name.
var texts = []string{
	"", " ", "a", "A", "-", ".", "..", "-a", "a-", "a.", "a..b", "a b", " a", "a ", "a\nb", "a\n", "\ta", "a\u0000b", "a\u200bb", "\ufeffa",
	"é", "日本語", "🐙", "a/b", "/", "a@b", "a,b", ",", "a;b", "a:b", `a"b`, "a'b", `a\b`, "a=b", "a#b", "a*b", "a|b", "$(a)", "${A}", "%s", "{{a}}", "a[0]",
	"null", "true", "1", "-1", "0x1", "1e3", "1.5", "nosuch", "name=admin", "a,secret=b", "krbd:secret=b", "krbd:", "krbd:a;nbd:b;krbd:c",
	"0s", "5s", "99999h", "1h30m", "-5s", "layering,", "layering,layering", "object-map", "fast-diff,exclusive-lock", "journaling,exclusive-lock",
	"00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-00000000000G", "100m", "1Gi", "1e3Gi", "1EiB",
}

// values are what a leaf may be given: texts, at its lengths, from its list, and of other types.
func values(schema map[string]any) []any {
	out := []any{true, int64(0), int64(-1), int64(7), 1.5, map[string]any{}, map[string]any{"a": "b"}, []any{}, []any{"a"}}
	for _, text := range texts {
		out = append(out, text)
	}
	if longest, ok := schema["maxLength"].(float64); ok {
		for _, letter := range []string{"a", "é"} {
			out = append(out, strings.Repeat(letter, int(longest)), strings.Repeat(letter, int(longest)+1))
		}
	}
	listed, _ := schema["enum"].([]any)
	for _, one := range listed {
		out = append(out, one, strings.ToLower(one.(string)), strings.ToUpper(one.(string)), one.(string)+" ")
	}
	return out
}
