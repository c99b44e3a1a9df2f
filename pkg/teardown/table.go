package teardown

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// writeFound shows what was found, before anything is done.
func (r *Report) writeFound(w io.Writer) error {
	var out strings.Builder
	for _, section := range []struct {
		verdict Verdict
		title   string
	}{
		{Remove, "Will remove:"},
		{Keep, "Stays:"},
		{Refuse, "Refused:"},
	} {
		if section.verdict == Remove && r.DryRun {
			section.title = "Would remove:"
		}
		r.writeSection(&out, section.title, section.verdict)
	}
	for _, sentence := range r.Running {
		fmt.Fprintf(&out, "Running: %s\n", ceph.OneLine(sentence))
	}
	for _, sentence := range r.Alive {
		fmt.Fprintf(&out, "In use: %s\n", ceph.OneLine(sentence))
	}
	if len(r.Items) == 0 || r.Tags[r.InfraID] == 0 {
		out.WriteString(r.nothing())
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r *Report) writeSection(out *strings.Builder, title string, v Verdict) {
	if n, _ := r.count(v); n == 0 {
		return
	}
	fmt.Fprintln(out, title)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  WHERE\tKIND\tNAME\tSIZE\tPV\tPVC\tREASON")
	for _, l := range r.Items {
		if l.Verdict != v {
			continue
		}
		kind := string(l.Kind)
		if l.Trash {
			kind += " in trash"
		}
		cells := []string{cmp.Or(l.Place.String(), "-"), kind, l.Name, l.size(), cmp.Or(l.PV, "-"), cmp.Or(l.PVC, "-"), l.Reason}
		for i := range cells {
			cells[i] = ceph.OneLine(cells[i])
		}
		fmt.Fprintln(table, "  "+strings.Join(cells, "\t"))
	}
	table.Flush()
	out.WriteString("\n")
}

func (i Item) size() string {
	if i.Size == 0 {
		return "-"
	}
	return bytesText(i.Size)
}

// nothing answers the question that a wrong infra ID raises: which are there?
func (r *Report) nothing() string {
	text := fmt.Sprintf("Nothing carries the tag of a cluster %q.\n", r.InfraID)
	for _, tag := range slices.Sorted(maps.Keys(r.Tags)) {
		if tag != "" && tag != r.InfraID {
			text += fmt.Sprintf("  %d carry the tag of %q.\n", r.Tags[tag], tag)
		}
	}
	return text
}

// writeEnd shows what was done.
func (r *Report) writeEnd(w io.Writer) error {
	var out strings.Builder
	for _, l := range r.Items {
		switch {
		case l.Result == failed:
			fmt.Fprintf(&out, "Failed: %s %s: %s\n", l.Kind, l.Full(), ceph.OneLine(l.Error))
		case l.Note != "":
			fmt.Fprintf(&out, "Note: %s %s: %s\n", l.Kind, l.Full(), ceph.OneLine(l.Note))
		}
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(&out, "Stopped: %s\n", ceph.OneLine(fault))
	}
	fmt.Fprintln(&out, r.summary())
	_, err := io.WriteString(w, out.String())
	return err
}

// summary is the last line.
func (r *Report) summary() string {
	n, size := r.count(Remove)
	kept, _ := r.count(Keep)
	refused, _ := r.count(Refuse)
	open := len(r.failed())
	text := fmt.Sprintf("Removed %d of %d (%s in all)", n-open, n, bytesText(size))
	if r.DryRun {
		text = fmt.Sprintf("Would remove %d (%s in all)", n, bytesText(size))
	}
	text += fmt.Sprintf(", %d stay, %d refused.", kept, refused)
	if open > 0 || len(r.Faults) > 0 {
		text += " Run it again to go on."
	}
	return text
}

// question is what is asked before anything is removed.
func (r *Report) question() string {
	counts := map[Kind]int{}
	for _, l := range r.Items {
		if l.Verdict == Remove {
			counts[l.Kind]++
		}
	}
	var parts []string
	for _, kind := range []Kind{Image, TemporaryImage, SnapshotImage, ImageGroup, Subvolume, SubvolumeSnapshot, ShallowVolume, Journal, Record, User, Protection} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, plural(n, string(kind)))
		}
	}
	_, size := r.count(Remove)
	return fmt.Sprintf("Remove %s of cluster %q, %s in all, for good?", strings.Join(parts, ", "), r.InfraID, bytesText(size))
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == string(Record):
		return fmt.Sprintf("%d records of earlier runs", n)
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bytesText prints a size as people do.
func bytesText(n uint64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n), []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	unit := -1
	for value >= step && unit < len(units)-1 {
		value /= step
		unit++
	}
	if value == float64(uint64(value)) {
		return fmt.Sprintf("%.0f %s", value, units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
