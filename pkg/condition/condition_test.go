package condition

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
)

// TestNew: what a message quotes may be as long as a Secret, and conditions are copied far.
func TestNew(t *testing.T) {
	tests := map[string]struct {
		reason, message, want string
	}{
		"Short": {"messages are for people, as they are", "a – b", "a – b"},
		"Long":  {"nobody reads that far", strings.Repeat("ä", 3*maxMessage), "…"},
		"Full":  {"nothing is cut off without need", strings.Repeat("a", maxMessage), strings.Repeat("a", maxMessage)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := *New("XDegraded", operatorv1.ConditionTrue, "Broken", tc.message).Message
			if !strings.HasSuffix(got, tc.want) || len(got) > maxMessage+len("…") || !utf8.ValidString(got) {
				t.Errorf("%s: got %d bytes that end with %q", tc.reason, len(got), got[max(0, len(got)-10):])
			}
		})
	}
}

// TestInformational names every type of its block: what it lacks is removed from ClusterCSIDrivers.
func TestInformational(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "condition.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, declaration := range file.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(block.Doc.Text(), "Types that no aggregation counts.") {
			continue
		}
		for _, spec := range block.Specs {
			value, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, value)
		}
	}
	if diff := cmp.Diff(want, Informational()); diff != "" || len(want) < 20 {
		t.Errorf("-declared +listed:\n%s", diff)
	}
}
