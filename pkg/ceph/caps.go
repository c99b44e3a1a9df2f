package ceph

import (
	"fmt"
	"slices"
	"strings"
)

// Caps are what a cephx user may do, by service, as Ceph writes them; empty for nothing. They
// compare with ==, as Ceph compares them: by their text. Grants writes the texts.
type Caps struct{ Mon, Mgr, OSD, MDS string }

// User is a cephx user as Ceph knows it.
type User struct {
	Credentials
	Caps Caps
}

// Grants writes grants such as "profile rbd pool=a" in the one way in which this module writes
// them: each once, sorted, so that equal rights have equal texts.
func Grants(grants ...string) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(grants)))
	return strings.Join(slices.DeleteFunc(sorted, func(g string) bool { return g == "" }), ", ")
}

// CapFilesystem is CapName for a filesystem: an MDS takes no quotes around its name, which has the
// characters that Ceph allows there.
func CapFilesystem(name string) (string, error) {
	written, err := CapName(name)
	if err == nil && (written != name || strings.Contains(name, "/")) {
		err = fmt.Errorf("the name %s cannot be that of a filesystem in the caps of a Ceph user", quote(name))
	}
	return written, err
}

// CapName writes the name of a pool or filesystem, or a path, for a grant. A name that would
// read as more than a name is quoted; one that cannot be quoted is an error.
func CapName(name string) (string, error) {
	plain := func(r rune) bool {
		return isDigit(r) || isUpper(r) || isLower(r) || strings.ContainsRune("_./-", r)
	}
	if name == "" || strings.Contains(name, `"`) && strings.Contains(name, "'") || strings.ContainsFunc(name, isControl) {
		return "", fmt.Errorf("the name %s cannot be written in the caps of a Ceph user", quote(name))
	}
	// "all" means every one in some places.
	if !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) && name != "all" {
		return name, nil
	}
	if strings.Contains(name, `"`) {
		return "'" + name + "'", nil
	}
	return `"` + name + `"`, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// With has the grants of both.
func (c Caps) With(more Caps) Caps {
	union := func(a, b string) string { return Grants(append(splitGrants(a), splitGrants(b)...)...) }
	return Caps{
		Mon: union(c.Mon, more.Mon), Mgr: union(c.Mgr, more.Mgr),
		OSD: union(c.OSD, more.OSD), MDS: union(c.MDS, more.MDS),
	}
}

// splitGrants takes a text of Ceph apart, at the commas and semicolons outside of quotes.
func splitGrants(text string) []string {
	var grants []string
	start, quoted := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted != 0 && c == quoted:
			quoted = 0
		case quoted == 0 && (c == '"' || c == '\''):
			quoted = c
		case quoted == 0 && (c == ',' || c == ';'):
			grants = append(grants, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(grants, strings.TrimSpace(text[start:]))
}

// Arguments are the caps as commands of Ceph take them: service, grants, service, grants.
func (c Caps) Arguments() []string {
	var out []string
	for _, s := range []struct{ service, grants string }{
		{"mds", c.MDS}, {"mgr", c.Mgr}, {"mon", c.Mon}, {"osd", c.OSD},
	} {
		if s.grants != "" {
			out = append(out, s.service, s.grants)
		}
	}
	return out
}

// String is how an administrator types the caps behind `ceph auth caps client.<user>`.
func (c Caps) String() string {
	words := c.Arguments()
	for i := 1; i < len(words); i += 2 {
		words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
