package condition

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/ceph-csi-driver-operator/test/golden"
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

// TestGoldenReadme keeps the tables of README.md as the declarations have them.
func TestGoldenReadme(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("README.md has no part between %q and %q", begin, end)
	}
	golden.Compare(t, "README.md", before+begin+tables()+end+after)
}

const (
	begin = "<!-- From declared.go: make update -->\n"
	end   = "<!-- End -->\n"
)

// TestDeclaredOnce: what adds up to two types, or is one and a part, would be told twice.
func TestDeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Declared {
		for _, name := range append([]string{d.Type}, d.Parts...) {
			if seen[name] {
				t.Errorf("%s is declared twice", name)
			}
			seen[name] = true
		}
	}
}
