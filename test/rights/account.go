package rights

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Account is a ServiceAccount with all that there is to know about its rights.
type Account struct {
	Name string
	// Home is the namespace of the drivers.
	Home string
	Held []Right
	// Granted are the rights in roles that it creates: the API server lets nobody grant what he
	// does not hold.
	Granted []Right
	// Bound are the rights to bind the roles that it binds.
	Bound []Right
	// Justified are needed for the reason given, whether a suite was seen to use them or not.
	Justified map[Right]string
}

// Compare returns one sorted line for each right that is held and not needed, and for each that
// is needed and not held.
//
//	used, or granted, or listed            needed
//	watch needed                           list needed: a watch falls back to it
//	needed, and a narrower right would do  the narrower one is needed
func (a Account) Compare(used []Request) []string {
	needed := map[Right]bool{}
	var out []string
	need := func(match func(Right) bool, what string) {
		r, ok := narrowest(a.Held, match)
		if !ok {
			out = append(out, fmt.Sprintf("%s lacks: %s", a.Name, what))
			return
		}
		needed[r] = true
	}
	for _, q := range used {
		need(func(r Right) bool { return r.allows(q, a.Home) }, fmt.Sprintf("%+v, which it was seen to ask for", q))
	}
	for _, g := range slices.Concat(a.Granted, a.Bound) {
		need(func(r Right) bool { return r.covers(g) }, g.String()+", which it grants or binds")
	}
	for j, reason := range a.Justified {
		if strings.TrimSpace(reason) == "" {
			out = append(out, fmt.Sprintf("%s: no reason for %s", a.Name, j))
		}
		need(func(r Right) bool { return r == j }, j.String()+", which is listed as needed")
	}
	for r := range maps.Clone(needed) {
		if r.Verb == "watch" {
			list := r
			list.Verb = "list"
			need(func(r Right) bool { return r == list }, list.String()+", which its watch falls back to")
		}
	}
	for _, r := range a.Held {
		if !needed[r] {
			out = append(out, fmt.Sprintf("%s does not need: %s", a.Name, r))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
