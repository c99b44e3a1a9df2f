package driver

import (
	"fmt"
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
	// Text bounds the value, or each item of a list.
	Text Text
	// MaxItems makes the field a list without repetitions.
	MaxItems int
	// Members make each item of the list an object of these texts, all of them required.
	Members []Field
}

// Text bounds a string. It is never empty: a field that is not set is left out.
type Text struct {
	// Enum are all values there are; nil allows more.
	Enum []string
	// Pattern must match, Never must not match; both are RE2. Empty ones are not checked.
	Pattern, Never string
	// MaxLength in characters.
	MaxLength int
	// Allowed completes "must be …" for a person.
	Allowed string
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
	if text == "" || t.MaxLength > 0 && utf8.RuneCountInString(text) > t.MaxLength {
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

// check returns what the field must be if value is not that; nil for no objection.
func (f Field) check(path string, value any) []objection {
	if f.MaxItems == 0 {
		return f.checkText(path, value)
	}
	items, ok := value.([]any)
	if !ok || len(items) > f.MaxItems {
		return []objection{{path, value, fmt.Sprintf("a list of at most %d items", f.MaxItems)}}
	}
	var out []objection
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if slices.ContainsFunc(items[:i], func(earlier any) bool { return fmt.Sprint(earlier) == fmt.Sprint(item) }) {
			out = append(out, objection{at, item, "listed once"})
			continue
		}
		out = append(out, f.checkItem(at, item)...)
	}
	return out
}

func (f Field) checkItem(path string, item any) []objection {
	if f.Members == nil {
		return f.checkText(path, item)
	}
	object, ok := item.(map[string]any)
	if !ok {
		return []objection{{path, item, "an object"}}
	}
	var out []objection
	for _, member := range f.Members {
		out = append(out, member.checkText(path+"."+member.Name, object[member.Name])...)
	}
	return out
}

func (f Field) checkText(path string, value any) []objection {
	text, ok := value.(string)
	if ok && f.Text.allows(text) {
		return nil
	}
	return []objection{{path, value, f.Text.Must()}}
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
		text = fmt.Sprint(o.value)
	}
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	if ok {
		text = fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%s is %s, must be %s", o.path, text, o.must)
}
