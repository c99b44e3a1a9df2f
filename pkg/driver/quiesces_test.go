package driver

import (
	"regexp"
	"strings"
	"testing"
)

// TestQuiesces: as the mgr compares, the whole of what it writes of the members.
func TestQuiesces(t *testing.T) {
	grants := quiesces([]string{"csi", "infra.a", "csi", "odd|name"})
	pattern, found := strings.CutPrefix(grants[0], `allow command "fs quiesce" with members regex "`)
	if !found || strings.Contains(pattern, `\`) {
		t.Fatalf("grant %s", grants[0])
	}
	allowed := regexp.MustCompile("^(" + strings.TrimSuffix(pattern, `"`) + ")$")
	tests := map[string]struct {
		members string
		want    bool
	}{
		"One":             {"csi/csi-vol-1", true},
		"SeveralGroups":   {"infra.a/csi-vol-1,csi/csi-vol-2,csi/csi-vol-3", true},
		"AnotherGroup":    {"theirs/csi-vol-1", false},
		"BesideItsOwn":    {"csi/csi-vol-1,theirs/csi-vol-1", false},
		"FirstIsAnothers": {"theirs/csi-vol-1,csi/csi-vol-1", false},
		"NoGroup":         {"csi-vol-1", false},
		"None":            {"", false},
		"Above":           {"csi/..", false},
		"Deeper":          {"csi/csi-vol-1/x", false},
		"AsGroup":         {"infraxa/csi-vol-1", false},
		"Query":           {"csi/csi-vol-1?x", false},
		"Tab":             {"csi/\t..", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := allowed.MatchString("[" + tc.members + "]"); got != tc.want {
				t.Errorf("%q is allowed: %v", tc.members, got)
			}
		})
	}
	if got := quiesces([]string{"odd|name", ""}); got != nil {
		t.Errorf("without any group: %q", got)
	}
}
