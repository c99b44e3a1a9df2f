// Package teardown removes from Ceph what an OpenShift cluster left there: its volumes,
// snapshots and clones, what ceph-csi keeps about them, and the cephx users made for it. It
// needs no Kubernetes. It removes nothing that is not provably of that cluster.
//
// Run gathers, decides in pure functions, shows, asks and acts. It may be killed anywhere and
// run again. What it does in each kind of storage is a Part, which has a package of its own.
package teardown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Errors that are no fault of Ceph's.
var (
	// ErrNoInfraID says that nothing tells whose volumes are meant.
	ErrNoInfraID = errors.New("the infra ID is empty")
	// ErrNotConfirmed says that whoever was asked did not say yes.
	ErrNotConfirmed = errors.New("nothing was removed: not confirmed")
	// ErrChanged says of an item that what was agreed on is not what is there now.
	ErrChanged = errors.New("it has changed since it was shown")
)

// Options say what to look for and what to do with it. Parts share them.
type Options struct {
	// InfraID is the infrastructure name of the cluster whose volumes go; never empty.
	InfraID string
	// Pools and Filesystems limit where to look; empty means all.
	Pools       []string
	Filesystems []string
	// JournalNamespaces are the RADOS namespaces of metadata pools in which ceph-csi keeps its journals.
	// Nobody looks into others: a filesystem may have millions of objects.
	JournalNamespaces []string
	// Volumes limits the run to these; empty means all.
	Volumes []ceph.VolumeHandle
	// IncludeRetained also removes what carries the retain mark.
	IncludeRetained bool
	// Force limits the refusal to what is in use, instead of the whole run.
	Force bool
	// KeepForChildren leaves parents of volumes that stay to the trash and the mgr, which removes
	// them with their last child.
	KeepForChildren bool
	// Parallel is how much is done at a time; 0 means DefaultParallel.
	Parallel int
	// Claimed tells whose PersistentVolume names a volume, in words such as "PersistentVolume pv-1
	// of cluster b"; empty means nobody's. Nil where no PersistentVolumes are known.
	Claimed func(Item) string
	// Ours tells whether a PersistentVolume or VolumeSnapshotContent of the cluster itself names an
	// item, and Retained whether that one is to leave it behind. Nil where the cluster's objects are not known.
	Ours, Retained func(Item) bool
}

// DefaultParallel is how much is done at a time unless told otherwise. Plain images go no faster
// with more than 16; clones do, because each waits a second for the mons, and other clients want
// something of the OSDs too.
const DefaultParallel = 24

// Workers is how much is done at a time.
func (o Options) Workers() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return DefaultParallel
}

// Judge applies what holds for everything that is provably the cluster's.
func (o Options) Judge(i Item, proof string) Decision {
	if o.Claimed != nil {
		if whose := o.Claimed(i); whose != "" {
			return i.Decide(Refuse, whose+" names it")
		}
	}
	i.Retain = i.Retain || o.Retained != nil && o.Retained(i)
	if i.Retain && !o.IncludeRetained {
		return i.Decide(Keep, i.retained()+"; --include-retained removes it too")
	}
	return i.Decide(Remove, proof)
}

// Selected says whether an Item is among the volumes that the run is limited to.
func (o Options) Selected(i Item) bool {
	return len(o.Volumes) == 0 || slices.ContainsFunc(o.Volumes, func(v ceph.VolumeHandle) bool {
		return v.UUID == i.UUID && v.LocationID == i.Location
	})
}

// Freshness is how long findings count: whoever is asked may think for an hour. Parts find again what is
// older before they remove it.
const Freshness = 10 * time.Second

// Part looks after one kind of storage, or of what belongs to it.
type Part interface {
	// Find gathers and decides; it changes nothing. before has the decisions of the parts that
	// come earlier.
	Find(ctx context.Context, before []Decision) (Findings, error)
	// Remove removes what was agreed on, all of it found by this part, and tells of each how it
	// went, from any goroutine. Its error says that it had to stop; faults of single items are in
	// their outcomes. Of items not told of, it is not known what became of them.
	Remove(ctx context.Context, agreed []Decision, tell func(Outcome)) error
}

// Config is a run.
type Config struct {
	Options
	Parts []Part
	// Running are sentences on the cluster's operators that run. It is asked first, and again before
	// anything is removed. Nil means that there are none.
	Running func(ctx context.Context) ([]string, error)
	// ForceLiving goes on although they do.
	ForceLiving bool
	// DryRun stops after showing.
	DryRun bool
	// JSON writes the report as JSON, once, at the end.
	JSON bool
	// Out gets the report. What happens meanwhile goes to Progress.
	Out io.Writer
	// Progress is told what happens; nil means nobody.
	Progress Progress
	// Confirm shows the text and asks. Nil means that nobody needs to be asked.
	Confirm func(text string) (bool, error)
}

// Run finds, shows, asks, removes and reports. The report is also returned; its Code is how the
// process ends. An error means that nothing was removed.
func Run(ctx context.Context, c Config) (*Report, error) {
	report := &Report{InfraID: c.InfraID, DryRun: c.DryRun, Tags: map[string]int{}}
	if strings.TrimSpace(c.InfraID) == "" {
		return report, ErrNoInfraID
	}
	if c.Progress == nil {
		c.Progress = quiet{}
	}
	var err error
	if report.Running, err = c.running(ctx); err != nil {
		if !c.ForceLiving {
			return report, err
		}
		report.Running = append(report.Running, fmt.Sprintf("nobody can tell: %v", err))
	}
	byPart, err := find(ctx, c, report)
	if err != nil {
		return report, err
	}
	if !c.JSON {
		if err := report.writeFound(c.Out); err != nil {
			return report, err
		}
	}
	if n, _ := report.count(Remove); n > 0 && !c.DryRun {
		if c.Confirm != nil {
			switch yes, err := c.Confirm(report.question()); {
			case err != nil:
				return report, err
			case !yes:
				return report, ErrNotConfirmed
			}
		}
		if err := c.stillGone(ctx); err != nil {
			return report, err
		}
		act(ctx, c, byPart, report)
	}
	if c.JSON {
		return report, report.writeJSON(c.Out)
	}
	return report, report.writeEnd(c.Out)
}

// find asks all parts, and refuses everything where the cluster still lives.
func find(ctx context.Context, c Config, report *Report) ([][]Decision, error) {
	byPart, alive, err := report.ask(ctx, c.Parts)
	report.Alive = alive
	if err != nil {
		return nil, err
	}
	if len(report.Alive) > 0 && !c.Force {
		refuseAll(byPart, fmt.Sprintf("the cluster is still in use (%s); stop it, or limit the refusal to what is in use with --force", report.Alive[0]), Kind.any)
	}
	if len(report.Alive) > 0 {
		refuseAll(byPart, fmt.Sprintf("what is still in use may need it (%s)", report.Alive[0]), Kind.carries)
	}
	if len(report.Running) > 0 && !c.ForceLiving {
		refuseAll(byPart, living(c.InfraID, report.Running), Kind.any)
	}
	report.fill(slices.Concat(byPart...))
	return byPart, nil
}

// ask asks the parts in their order. It counts the tags, and returns what they decided and who is alive.
func (r *Report) ask(ctx context.Context, parts []Part) (byPart [][]Decision, alive []string, err error) {
	for _, part := range parts {
		found, err := part.Find(ctx, slices.Concat(byPart...))
		if err != nil {
			return byPart, alive, err
		}
		byPart, alive = append(byPart, found.Decisions), append(alive, found.Alive...)
		for tag, n := range found.Tags {
			r.Tags[tag] += n
		}
	}
	return byPart, alive, nil
}

// refuseAll: a cluster that still lives is not torn down by accident.
func refuseAll(byPart [][]Decision, reason string, of func(Kind) bool) {
	for _, decisions := range byPart {
		for i := range decisions {
			if decisions[i].Verdict == Remove && of(decisions[i].Kind) {
				decisions[i].Verdict = Refuse
				decisions[i].Reason = reason
			}
		}
	}
}

func (c Config) running(ctx context.Context) ([]string, error) {
	if c.Running == nil {
		return nil, nil
	}
	return c.Running(ctx)
}

// stillGone looks again: whoever is asked may think for an hour.
func (c Config) stillGone(ctx context.Context) error {
	if c.ForceLiving {
		return nil
	}
	running, err := c.running(ctx)
	if err == nil && len(running) > 0 {
		err = fmt.Errorf("%w: %s", ErrRunning, living(c.InfraID, running))
	}
	return err
}

// act lets each part remove what was agreed on. One may take hours, so that it looks again before the
// next. What volumes rest on stays where something that came before it could not be removed: whoever
// uses that may need it, and the next run finds the cluster by it.
func act(ctx context.Context, c Config, byPart [][]Decision, report *Report) {
	n, size := report.count(Remove)
	c.Progress.Start(n, size)
	defer c.Progress.End()
	tell := func(o Outcome) {
		report.record(o)
		c.Progress.Step(o)
	}
	begun := false
	for i, part := range c.Parts {
		agreed := slices.DeleteFunc(slices.Clone(byPart[i]), func(d Decision) bool { return d.Verdict != Remove })
		if left := report.unfinished(); left != nil {
			agreed = slices.DeleteFunc(agreed, func(d Decision) bool {
				if d.Kind.carries() {
					tell(Outcome{Decision: d, Err: left})
				}
				return d.Kind.carries()
			})
		}
		if len(agreed) == 0 {
			continue
		}
		if begun {
			if err := c.stillGone(ctx); err != nil {
				report.Faults = append(report.Faults, err.Error())
				return
			}
		}
		begun = true
		if err := part.Remove(ctx, agreed, tell); err != nil {
			report.Faults = append(report.Faults, err.Error())
		}
		if ctx.Err() != nil {
			return
		}
	}
}
