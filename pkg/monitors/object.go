package monitors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object whose members keep their order, and whose values keep every byte.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// readObject reads a JSON object; nothing, and null, is an empty one.
func readObject(raw json.RawMessage) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil, nil
	}
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out object
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(name)}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// find returns the index of the member that counts, as Go's readers of JSON see it: the last one of
// that name in whatever case; -1 for none.
func (o object) find(name string) int {
	for i, m := range slices.Backward(o) {
		if strings.EqualFold(m.name, name) {
			return i
		}
	}
	return -1
}

func (o object) value(name string) json.RawMessage {
	if i := o.find(name); i >= 0 {
		return o[i].value
	}
	return nil
}

// with returns the object with another value of a member; nil leaves the member out.
func (o object) with(name string, value json.RawMessage) object {
	i := o.find(name)
	switch {
	case value == nil:
		return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return strings.EqualFold(m.name, name) })
	case i < 0:
		return append(slices.Clone(o), member{name, value})
	}
	out := slices.Clone(o)
	out[i].value = value
	return out
}

// text is the object over several lines, which but for the first begin with the indentation.
func (o object) text(indent string) (json.RawMessage, error) {
	if len(o) == 0 {
		return json.RawMessage("{}"), nil
	}
	var lines []string
	for _, m := range o {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		lines = append(lines, indent+"  "+string(name)+": "+string(m.value))
	}
	return json.RawMessage("{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"), nil
}

// setMember gives a member of an object, or of one within it, another value; nil removes it, and
// an object that is empty by that. Where nothing differs, raw comes back.
func setMember(raw json.RawMessage, path []string, value any, indent string) (json.RawMessage, error) {
	o, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	before := o.value(path[0])
	var after json.RawMessage
	switch {
	case len(path) > 1:
		if after, err = setMember(before, path[1:], value, indent+"  "); string(after) == "{}" {
			after = nil
		}
	case value != nil:
		after, err = json.MarshalIndent(value, indent+"  ", "  ")
	}
	if err != nil {
		return nil, err
	}
	if sameJSON(before, after) {
		return raw, nil
	}
	return o.with(path[0], after).text(indent)
}
