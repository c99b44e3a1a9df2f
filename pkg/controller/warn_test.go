package controller

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestEventsFit(t *testing.T) {
	names := map[string]bool{}
	for _, about := range []string{"gold", strings.Repeat("a", 253), strings.Repeat("a", 235) + "-" + strings.Repeat("b", 17), strings.Repeat("a.", 126) + "a"} {
		for _, hash := range []uint64{0, 1, 1 << 63} {
			name := eventName(about, hash)
			if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			if names[name] {
				t.Errorf("%s is there twice", name)
			}
			names[name] = true
		}
	}
	for _, message := range []string{"short", strings.Repeat("é", 2000), "a" + strings.Repeat("é", 2000)} {
		if got := cut(message); len(got) > 1024 || !utf8.ValidString(got) {
			t.Errorf("%d bytes, %q", len(got), got)
		}
	}
}
