package rules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

// TestBudgets keeps files and functions short enough to be read at once. Tables in tests may
// be long; a test's file may not.
func TestBudgets(t *testing.T) {
	for _, f := range mustSources(t) {
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines, the budget is %d: split it by what it promises", f.path, f.lines, maxFileLines)
		}
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.positions.Position(fn.End()).Line - f.positions.Position(fn.Pos()).Line + 1
			if lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, the budget is %d", f.path, fn.Name.Name, lines, maxFunctionLines)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, f := range mustSources(t) {
		parts := strings.Split(f.dir, "/")
		for _, banned := range []string{"util", "utils", "common", "helpers", "misc"} {
			if slices.Contains(parts, banned) {
				t.Errorf("%s: a package called %s says nothing: name it for what it does", f.path, banned)
			}
		}
	}
}

// TestSelectors bans uses of other packages' names where they do not belong.
func TestSelectors(t *testing.T) {
	tests := map[string]struct {
		reason    string
		selectors []string
		allowed   func(file) bool
	}{
		"Environment": {
			reason:    "flags and environment are read in cmd and nowhere else",
			selectors: []string{"os.Getenv", "os.LookupEnv", "os.Environ"},
			allowed: func(f file) bool {
				return strings.HasPrefix(f.dir, "cmd/") || strings.HasPrefix(f.dir, "test/") || f.test
			},
		},
		"WhichDriver": {
			reason:    "nothing asks which driver it is: differences are data in pkg/driver",
			selectors: []string{"driver.RBD", "driver.CephFS"},
			allowed: func(f file) bool {
				return strings.HasPrefix(f.dir, "cmd/") || strings.HasPrefix(f.dir, "test/") || f.test
			},
		},
		"Sleep": {
			reason:    "wait for a condition instead",
			selectors: []string{"time.Sleep"},
			allowed:   func(file) bool { return false },
		},
		"DeletedUnseen": {
			reason:    "it hides deletions that happen while the watch is down: event.Named does not",
			selectors: []string{"factory.NamesFilter"},
			allowed:   func(file) bool { return false },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, f := range mustSources(t) {
				if tc.allowed(f) {
					continue
				}
				ast.Inspect(f.syntax, func(n ast.Node) bool {
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if x, ok := s.X.(*ast.Ident); ok && slices.Contains(tc.selectors, x.Name+"."+s.Sel.Name) {
						t.Errorf("%s: %s.%s: %s", f.positions.Position(s.Pos()), x.Name, s.Sel.Name, tc.reason)
					}
					return true
				})
			}
		})
	}
}
