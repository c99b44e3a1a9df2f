package driver

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Field is a member of spec.driverConfig.ceph: what the CRD says of it and what the operator
// checks again, since a CRD on a cluster may be older or have no schema.
type Field struct {
	Name string
	// Doc is what `oc explain` shows.
	Doc string
	// Text bounds the value, or each item of a list or a map.
	Text Text
	// Members make the value, or each item, an object of these.
	Members []Field
	// Rules are what the members of such an object must have in common.
	Rules []ObjectRule
	// MaxItems makes the field a list: without repetitions, unless members may be left out.
	MaxItems int
	// MaxKeys makes it a map, whose keys Keys bounds.
	MaxKeys int
	Keys    Text
	// Optional members of an object may be left out.
	Optional bool
}

// Text bounds a string. A field that is not set is left out.
type Text struct {
	// Enum are all values there are; nil allows more.
	Enum []string
	// Pattern must match, Never must not match; both are RE2. Empty ones are not checked.
	Pattern, Never string
	// MaxLength in characters.
	MaxLength int
	// Allowed completes "must be …" for a person.
	Allowed string
	// Empty lets it be empty.
	Empty bool
	// Number has it be a whole number, at least 0, instead; OrNumber lets it be one.
	Number, OrNumber bool
}

// ObjectRule is what members of an object must have in common.
type ObjectRule struct {
	// CEL holds for an object that obeys the rule; where there is none, only the operator checks it.
	CEL string
	// Must completes "must be …" for a person.
	Must string

	holds func(object map[string]any) bool
}

// Repeats says whether items of a list may be equal.
func (f Field) Repeats() bool {
	return slices.ContainsFunc(f.Members, func(m Field) bool { return m.Optional })
}

// Rule is what fields of one ClusterCSIDriver must have in common.
type Rule struct {
	// Field is the one to complain about.
	Field string
	// CEL holds for the member ceph that obeys the rule.
	CEL string
	// Message completes "spec.driverConfig.ceph.<field> …".
	Message string

	holds func(Settings) bool
}

// Must completes "… must be" with what the text allows.
func (t Text) Must() string {
	if len(t.Enum) == 0 {
		return t.Allowed
	}
	return "one of " + quotedInOrder(t.Enum)
}

func quotedInOrder(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, fmt.Sprintf("%q", text))
	}
	return strings.Join(out, ", ")
}

func (t Text) allows(text string) bool {
	if text == "" {
		return t.Empty
	}
	if t.MaxLength > 0 && utf8.RuneCountInString(text) > t.MaxLength {
		return false
	}
	if t.Enum != nil && !slices.Contains(t.Enum, text) {
		return false
	}
	if t.Pattern != "" && !regexp.MustCompile(t.Pattern).MatchString(text) {
		return false
	}
	return t.Never == "" || !regexp.MustCompile(t.Never).MatchString(text)
}

// check returns what the field must be if value is not that; nil for no objection. Members that nobody knows
// are wrong if it is strict.
func (f Field) check(path string, value any, strict bool) []objection {
	switch {
	case f.MaxItems > 0:
		return f.checkList(path, value, strict)
	case f.MaxKeys > 0:
		return f.checkMap(path, value, strict)
	}
	return f.checkItem(path, value, strict)
}

func (f Field) checkList(path string, value any, strict bool) []objection {
	items, ok := value.([]any)
	if !ok || len(items) > f.MaxItems {
		return []objection{{path, value, fmt.Sprintf("a list of at most %d items", f.MaxItems)}}
	}
	var out []objection
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !f.Repeats() && slices.ContainsFunc(items[:i], func(earlier any) bool { return fmt.Sprint(earlier) == fmt.Sprint(item) }) {
			out = append(out, objection{at, item, "listed once"})
			continue
		}
		out = append(out, f.checkItem(at, item, strict)...)
	}
	return out
}

func (f Field) checkMap(path string, value any, strict bool) []objection {
	entries, ok := value.(map[string]any)
	if !ok || len(entries) == 0 || len(entries) > f.MaxKeys {
		return []objection{{path, value, fmt.Sprintf("an object of 1 to %d entries", f.MaxKeys)}}
	}
	var out []objection
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if !f.Keys.allows(key) {
			out = append(out, objection{"a key of " + path, key, f.Keys.Must()})
			continue
		}
		out = append(out, f.checkItem(path+"["+key+"]", entries[key], strict)...)
	}
	return out
}

func (f Field) checkItem(path string, item any, strict bool) []objection {
	if f.Members == nil {
		return f.checkText(path, item)
	}
	object, ok := item.(map[string]any)
	if !ok {
		return []objection{{path, item, "an object"}}
	}
	var out []objection
	for _, member := range f.Members {
		if value := object[member.Name]; value != nil || !member.Optional {
			out = append(out, member.check(path+"."+member.Name, value, strict)...)
		}
	}
	if strict {
		out = append(out, unknown(f.Members, path, object)...)
	}
	if len(out) > 0 {
		return out
	}
	for _, rule := range f.Rules {
		if !rule.holds(object) {
			out = append(out, objection{path, item, rule.Must})
		}
	}
	return out
}

// unknown are objections to what an object has beside the members that there are, null or not: "{pool=fast}" is YAML.
func unknown(members []Field, path string, object map[string]any) []objection {
	var out []objection
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(members, func(f Field) bool { return f.Name == name }) {
			value := object[name]
			if value == nil {
				value = json.RawMessage("null")
			}
			out = append(out, objection{path + "." + name, value, "left out: there is only " + known(members)})
		}
	}
	return out
}

func known(members []Field) string {
	var out []string
	for _, f := range members {
		out = append(out, f.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (f Field) checkText(path string, value any) []objection {
	if number, ok := whole(value); ok && number >= 0 && (f.Text.Number || f.Text.OrNumber) {
		return nil
	}
	text, ok := value.(string)
	if ok && !f.Text.Number && f.Text.allows(text) {
		return nil
	}
	return []objection{{path, value, f.Text.Must()}}
}

// whole is a number as JSON or YAML has it.
func whole(value any) (int64, bool) {
	switch number := value.(type) {
	case int64:
		return number, true
	case float64:
		return int64(number), number == math.Trunc(number) && math.Abs(number) < 1<<53
	}
	return 0, false
}

// objection is a value that is not allowed.
type objection struct {
	path  string
	value any
	must  string
}

// maxQuoted is how much of a value a message quotes.
const maxQuoted = 100

func (o objection) String() string {
	if o.value == nil {
		return fmt.Sprintf("%s is missing, must be %s", o.path, o.must)
	}
	text, ok := o.value.(string)
	if !ok {
		encoded, _ := json.Marshal(o.value) // It came as JSON.
		text = string(encoded)
	}
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	if ok {
		text = fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%s is %s, must be %s", o.path, text, o.must)
}
