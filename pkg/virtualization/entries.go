package virtualization

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// errNotAnObject says that a setting is JSON, but no object.
var errNotAnObject = errors.New("not a JSON object")

// entry is a member of a JSON object, and where its value stands in the text.
type entry struct {
	key        string
	raw        json.RawMessage
	start, end int
}

// readEntries reads the members of a JSON object without touching the text.
func readEntries(text string) ([]entry, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	var any json.RawMessage
	if err := decoder.Decode(&any); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: there is more behind its end")
	}
	decoder = json.NewDecoder(bytes.NewReader([]byte(text)))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errNotAnObject
	}
	var out []entry
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		name, _ := key.(string)
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		end := int(decoder.InputOffset())
		out = append(out, entry{key: name, raw: raw, start: end - len(raw), end: end})
	}
	return out, nil
}

// find returns the last entry of that key, which is the one that counts.
func find(all []entry, key string) (entry, bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].key == key {
			return all[i], true
		}
	}
	return entry{}, false
}

// withEntry puts an entry into the text of a JSON object and changes no other byte of it.
func withEntry(text string, all []entry, key, value string) string {
	if held, there := find(all, key); there {
		return text[:held.start] + value + text[held.end:]
	}
	added := quote(key) + ":" + value
	if len(all) > 0 {
		end := all[len(all)-1].end
		return text[:end] + "," + added + text[end:]
	}
	return "{" + added + "}"
}

func quote(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

// sameJSON compares values, not texts.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// settingFacts are what the merge of a driver's entry into a setting of Harvester rests on.
type settingFacts struct {
	// value is the setting's, chosen by an administrator, defaults what counts while it is empty.
	value, defaults string
	key             string
	// wanted is the driver's entry; empty while there is none to write.
	wanted string
	// applied is what this operator wrote last; empty before the first time.
	applied string
}

// outcome of a merge.
type outcome int

const (
	// settled: there is nothing to do.
	settled outcome = iota
	// changed: the value is to be written.
	changed
	// overridden: an administrator has another entry.
	overridden
	// withdrawn: an administrator has removed the entry.
	withdrawn
)

// merge decides on a driver's entry:
//
//	there is       | written before | then
//	nothing wanted | any            | nothing
//	no entry       | never          | it is added
//	no entry       | once           | it was removed on purpose, and stays away
//	the wanted one | any            | nothing
//	the last one   | that           | it is changed
//	another        | any            | it was chosen on purpose, and stays
//
// A value that cannot be read is an error, and never overwritten.
func merge(f settingFacts) (outcome, string, error) {
	text := cmp.Or(f.value, f.defaults, "{}")
	all, err := readEntries(text)
	if err != nil {
		return settled, "", err
	}
	held, there := find(all, f.key)
	switch {
	case f.wanted == "", there && sameJSON(string(held.raw), f.wanted):
		return settled, "", nil
	case !there && f.applied != "":
		return withdrawn, "", nil
	case there && !sameJSON(string(held.raw), f.applied):
		return overridden, string(held.raw), nil
	}
	return changed, withEntry(text, all, f.key, f.wanted), nil
}

// withoutEntry takes the last entry of a key out of the text of a JSON object and changes no
// other byte of what is left.
func withoutEntry(text string, all []entry, key string) string {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].key != key {
			continue
		}
		if i > 0 {
			return text[:all[i-1].end] + text[all[i].end:]
		}
		open, rest := strings.Index(text, "{")+1, text[all[i].end:]
		if len(all) > 1 {
			_, rest, _ = strings.Cut(rest, ",")
		}
		return text[:open] + rest
	}
	return text
}
