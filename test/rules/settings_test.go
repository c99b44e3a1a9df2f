package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestReadmeHasEverySetting compares the table of settings with the fields that the drivers have.
func TestReadmeHasEverySetting(t *testing.T) {
	rows := table(mustRead(t, "README.md"), "Field of ceph", "Driver", "Values")
	for _, d := range driver.All {
		var got []string
		values := map[string]string{}
		for _, row := range rows {
			if row[1] == "both" || strings.EqualFold(row[1], d.Kind) {
				for name := range strings.SplitSeq(row[0], ", ") {
					got = append(got, name)
					values[name] = row[2]
				}
			}
		}
		var want []string
		for _, field := range d.Fields {
			want = append(want, field.Name)
			for _, value := range field.Text.Enum {
				if !strings.Contains(values[field.Name], value) {
					t.Errorf("README.md does not say that %s of %s may be %s", field.Name, d.Name, value)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("settings of %s in README.md (-there are +explained):\n%s", d.Name, diff)
		}
	}
}

// TestReadmeHasSectionsNamed: messages send people to sections of README.md.
func TestReadmeHasSectionsNamed(t *testing.T) {
	var named []string
	for _, f := range mustSources(t) {
		if f.test {
			continue
		}
		for _, text := range texts(f) {
			if _, after, found := strings.Cut(text, `README tells more ("`); found {
				section, _, _ := strings.Cut(after, `"`)
				named = append(named, section)
			}
		}
	}
	headings := strings.Split(mustRead(t, "README.md"), "\n")
	headings = slices.DeleteFunc(headings, func(line string) bool { return !strings.HasPrefix(line, "#") })
	for _, section := range atLeast(t, 2, "sections named by messages", named) {
		if !slices.ContainsFunc(headings, func(heading string) bool { return strings.HasSuffix(heading, " "+section) }) {
			t.Errorf("a message sends people to %q, which is no section of README.md", section)
		}
	}
}
