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
	// Justified are needed for the reason given.
	Justified map[Right]Reason
	// Shared are roles of others that it is bound to, by name: they are not ours to narrow, so each is needed
	// as a whole, or not at all.
	Shared map[string][]Right
}

// Reason is why a right is needed that no suite was seen to use.
type Reason struct {
	Text string
	// Sometimes says that it depends on a suite's course, or on what it runs, whether it uses the right.
	Sometimes bool
}

// Compare returns one sorted line for each right that is held and not needed, and for each that
// is needed and not held.
//
//	used, or granted, or listed            needed
//	used and listed                        it need not be listed, but for what is used sometimes
//	used, and a shared role allows it      the shared role is needed, a rule of its own is not
//	watch needed                           list needed: a watch falls back to it
//	needed, and a narrower right would do  the narrower one is needed
func (a Account) Compare(used []Request) []string {
	needed, bound := map[Right]bool{}, map[string]bool{}
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
		allows := func(r Right) bool { return r.allows(q, a.Home) }
		if roles := a.sharedWith(allows); len(roles) > 0 {
			maps.Copy(bound, roles)
			continue
		}
		need(allows, fmt.Sprintf("%+v, which it was seen to ask for", q))
	}
	shown := maps.Clone(needed)
	for _, g := range slices.Concat(a.Granted, a.Bound) {
		need(func(r Right) bool { return r.covers(g) }, g.String()+", which it grants or binds")
	}
	for j, reason := range a.Justified {
		if strings.TrimSpace(reason.Text) == "" {
			out = append(out, fmt.Sprintf("%s: no reason for %s", a.Name, j))
		}
		if shown[j] && !reason.Sometimes {
			out = append(out, fmt.Sprintf("%s was seen to use %s, which is listed as needed all the same", a.Name, j))
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
	for role := range a.Shared {
		if !bound[role] {
			out = append(out, fmt.Sprintf("%s does not need: anything of %s", a.Name, role))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sharedWith are the shared roles that have a right which matches.
func (a Account) sharedWith(match func(Right) bool) map[string]bool {
	out := map[string]bool{}
	for name, rights := range a.Shared {
		if slices.ContainsFunc(rights, match) {
			out[name] = true
		}
	}
	return out
}
