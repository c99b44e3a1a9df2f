package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// OrphansConfig is a search for volumes that a living cluster may have forgotten.
type OrphansConfig struct {
	// Options name the living cluster; Ours must be set.
	Options
	Parts []Part
	// OlderThan leaves out what is younger; Now is the time of the search.
	OlderThan time.Duration
	Now       time.Time
	JSON      bool
	Out       io.Writer
}

// Orphans lists what carries the tag of a living cluster though none of its objects names it, and
// why each may still be wanted. It removes nothing.
func Orphans(ctx context.Context, c OrphansConfig) (*Report, error) {
	report := &Report{InfraID: c.InfraID, DryRun: true, Tags: map[string]int{}}
	if strings.TrimSpace(c.InfraID) == "" {
		return report, ErrNoInfraID
	}
	if c.Ours == nil {
		return report, errors.New("the objects of the cluster are not known")
	}
	byPart, _, err := report.ask(ctx, c.Parts)
	if err != nil {
		return report, err
	}
	report.fill(orphans(c, slices.Concat(byPart...)))
	if c.JSON {
		return report, report.writeJSON(c.Out)
	}
	return report, report.writeOrphans(c.Out)
}

// orphans decides which of the cluster's volumes are orphans.
func orphans(c OrphansConfig, decisions []Decision) []Decision {
	kinds := []Kind{Image, SnapshotImage, Subvolume, SubvolumeSnapshot, ShallowVolume}
	var out []Decision
	for _, d := range decisions {
		young := !d.Created.IsZero() && c.Now.Sub(d.Created) < c.OlderThan
		if d.Tag != c.InfraID || !slices.Contains(kinds, d.Kind) || young || c.Ours(d.Item) || c.Claimed != nil && c.Claimed(d.Item) != "" {
			continue
		}
		out = append(out, d.Decide(Keep, wanted(d, c.Now)))
	}
	return out
}

// wanted says why an orphan may still be wanted.
func wanted(d Decision, now time.Time) string {
	age := "of unknown age"
	if !d.Created.IsZero() {
		age = fmt.Sprintf("%d days old", int(now.Sub(d.Created)/(24*time.Hour)))
	}
	switch {
	case d.Retain:
		return age + "; " + d.retained() + ": somebody wanted the data to outlive it"
	case d.Trash:
		return age + "; deleted, and waits in the trash for its clones"
	case d.Verdict == Refuse:
		return age + "; not provably the cluster's: " + d.Reason
	}
	return age + "; it may be wanted if it is still being provisioned, or if etcd was restored from an older backup; compare " + cmp.Or(d.PV, "the cluster's backups")
}

// writeOrphans shows them.
func (r *Report) writeOrphans(w io.Writer) error {
	var out strings.Builder
	r.writeSection(&out, "No object of the cluster names these; none is removed:", Keep)
	n, size := r.count(Keep)
	fmt.Fprintf(&out, "%s, %s in all. Remove single ones with --volume.\n", plural(n, "orphan"), bytesText(size))
	_, err := io.WriteString(w, out.String())
	return err
}
