package virtualization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// values are those below one map of an object, by key: those of spec, or annotations.
type values map[string]any

// owners are the field managers of such keys. A value that several applied alike has several.
type owners map[string][]string

// ownersOf reads who owns the keys below a path such as "f:spec".
func ownersOf(object metav1.Object, path ...string) owners {
	out := owners{}
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		for _, key := range keysBelow(entry.FieldsV1.GetRawBytes(), path) {
			out[key] = append(out[key], entry.Manager)
		}
	}
	return out
}

// keysBelow are the names of fields in the JSON form of a set of fields; none if it is unreadable.
func keysBelow(raw []byte, path []string) []string {
	var level map[string]json.RawMessage
	if json.Unmarshal(raw, &level) != nil {
		return nil
	}
	if len(path) > 0 {
		return keysBelow(level[path[0]], path[1:])
	}
	var out []string
	for key := range level {
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			out = append(out, name)
		}
	}
	return out
}

// of are the keys that a manager owns, sorted.
func (o owners) of(manager string) []string {
	var out []string
	for key, managers := range o {
		if slices.Contains(managers, manager) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// adopt counts wanted keys that only another name of ours owns as the manager's, and says
// whether there are any.
func (o owners) adopt(alias, manager string, wanted values) bool {
	adopted := false
	for key, managers := range o {
		foreign := slices.ContainsFunc(managers, func(name string) bool { return name != alias && name != manager })
		if _, ours := wanted[key]; !ours || foreign || !slices.Contains(managers, alias) {
			continue
		}
		o[key], adopted = []string{manager}, true
	}
	return adopted
}

// override is a value that somebody else has chosen.
type override struct {
	key string
	// wanted is the operator's value, current the one that stays, by whom it was written.
	wanted, current any
	by              string
}

// plan is what server-side apply is to be given.
type plan struct {
	// apply are all values that are to be ours; the others of ours go.
	apply values
	// write says that there is something to do.
	write     bool
	overrides []override
}

// decide compares what is wanted with what is there:
//
//	value    | owner          | then
//	missing  | -              | it is written
//	wanted   | we             | it stays ours
//	wanted   | somebody else  | it stays theirs
//	another  | we alone       | it is written
//	another  | somebody else  | it stays, and is told
//	another  | nobody         | it stays, and is told: it was written before there were owners
//
// What is ours and no longer wanted goes.
func decide(wanted, current values, held owners, manager string) plan {
	out := plan{apply: values{}}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		value, there := current[key]
		managers := held[key]
		ours := slices.Contains(managers, manager)
		same := there && reflect.DeepEqual(value, wanted[key])
		switch {
		case same && !ours:
		case there && !same && (!ours || len(managers) > 1):
			out.overrides = append(out.overrides, override{key: key, wanted: wanted[key], current: value, by: otherThan(manager, managers)})
		default:
			out.apply[key] = wanted[key]
			out.write = out.write || !same
		}
	}
	for _, key := range held.of(manager) {
		_, kept := out.apply[key]
		out.write = out.write || !kept
	}
	return out
}

func otherThan(manager string, managers []string) string {
	for _, name := range managers {
		if name != manager {
			return name
		}
	}
	return "somebody"
}

// perform applies a plan. Without force, the API server refuses values that others own, and
// says which: those are left out, and returned as overrides.
func (p plan) perform(ctx context.Context, path string, apply func(context.Context, values) error) ([]override, error) {
	if !p.write {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	err := apply(ctx, p.apply)
	refused := conflicts(err, path)
	if len(refused) == 0 {
		return nil, err
	}
	rest := maps.Clone(p.apply)
	var out []override
	for _, key := range slices.Sorted(maps.Keys(refused)) {
		out = append(out, override{key: key, wanted: rest[key], by: refused[key]})
		delete(rest, key)
	}
	return out, apply(ctx, rest)
}

// conflicts are the keys below path that others own, with a name of who that is.
func conflicts(err error, path string) map[string]string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	out := map[string]string{}
	for _, cause := range status.Status().Details.Causes {
		key, below := strings.CutPrefix(cause.Field, path)
		if cause.Type == metav1.CauseTypeFieldManagerConflict && below {
			// As in: conflict with "kubectl-edit" using cdi.kubevirt.io/v1beta1
			_, rest, _ := strings.Cut(cause.Message, `"`)
			name, _, _ := strings.Cut(rest, `"`)
			out[key] = name
		}
	}
	return out
}

// text of a value, for a message.
func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
