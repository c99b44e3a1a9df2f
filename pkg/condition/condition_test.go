package condition

import (
	"strings"
	"testing"
	"unicode/utf8"

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
