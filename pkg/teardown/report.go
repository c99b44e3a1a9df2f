package teardown

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
)

// The codes with which the process ends.
const (
	// CodeDone: nothing was refused, and nothing failed.
	CodeDone = 0
	// CodeFailed: something could not be removed; run it again.
	CodeFailed = 1
	// CodeNotRun: nothing was removed, because it could not be found out what, or nobody said yes.
	CodeNotRun = 2
	// CodeRefused: something carries the cluster's tag and stays, with the reason in the report.
	CodeRefused = 3
)

// Line is a decision and what became of it.
type Line struct {
	Decision
	// Result is "removed" or "failed"; empty where nothing was tried.
	Result string `json:"result,omitempty"`
	Note   string `json:"note,omitempty"`
	Error  string `json:"error,omitempty"`
}

// The results of a Line.
const (
	removed = "removed"
	failed  = "failed"
)

// Report is the result of a run. It has no key.
type Report struct {
	InfraID string
	DryRun  bool
	// Items are sorted by what happens with them, by place and by name.
	Items []Line
	// Tags counts what carries a tag, by infra ID.
	Tags map[string]int
	// Running are sentences on the cluster's operators that run, Alive on whoever uses its volumes.
	Running []string
	Alive   []string
	// Faults are what made a part stop.
	Faults []string

	mu sync.Mutex
	// at has the places of what is to be removed in Items.
	at map[Item]int
}

// fill takes over the decisions of all parts.
func (r *Report) fill(decisions []Decision) {
	slices.SortStableFunc(decisions, compareDecisions)
	r.at = map[Item]int{}
	for i, d := range decisions {
		r.Items = append(r.Items, Line{Decision: d})
		if d.Verdict == Remove {
			r.at[d.Item] = i
		}
	}
}

// record notes an outcome; parts call it from several goroutines.
func (r *Report) record(o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.at[o.Item]
	if !ok {
		return
	}
	l := &r.Items[i]
	l.Result, l.Note = removed, o.Note
	if o.Err != nil {
		l.Result, l.Error = failed, o.Err.Error()
	}
}

// count is the number and the size in bytes of what has a verdict.
func (r *Report) count(v Verdict) (n int, size uint64) {
	for _, l := range r.Items {
		if l.Verdict == v {
			n, size = n+1, size+l.Size
		}
	}
	return n, size
}

// Code is how the process ends.
func (r *Report) Code() int {
	refused, _ := r.count(Refuse)
	switch {
	case len(r.failed()) > 0 || len(r.Faults) > 0:
		return CodeFailed
	case refused > 0:
		return CodeRefused
	}
	return CodeDone
}

// failed are the lines that were to be removed and are not known to be gone, unless nothing was
// to be done at all.
func (r *Report) failed() []Line {
	if r.DryRun {
		return nil
	}
	var out []Line
	for _, l := range r.Items {
		if l.Verdict == Remove && l.Result != removed {
			out = append(out, l)
		}
	}
	return out
}

// unfinished is an error that tells what was tried and not removed so far.
func (r *Report) unfinished() error {
	why := ""
	for _, l := range r.Items {
		if l.Result == failed && why == "" {
			why = fmt.Sprintf("%s %s could not be removed", l.Kind, l.Full())
		}
	}
	if len(r.Faults) > 0 {
		why = r.Faults[0]
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("what is left may need it: %s", why)
}

// reportVersion is raised when a field changes its meaning or goes.
const reportVersion = 1

func (r *Report) writeJSON(w io.Writer) error {
	sizes := map[Verdict]map[string]uint64{}
	for _, v := range []Verdict{Remove, Keep, Refuse} {
		n, size := r.count(v)
		sizes[v] = map[string]uint64{"items": uint64(n), "bytes": size}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Version int                           `json:"version"`
		InfraID string                        `json:"infraID"`
		DryRun  bool                          `json:"dryRun"`
		Code    int                           `json:"exitCode"`
		Totals  map[Verdict]map[string]uint64 `json:"totals"`
		Items   []Line                        `json:"items"`
		Tags    map[string]int                `json:"tags"`
		Running []string                      `json:"running"`
		Alive   []string                      `json:"alive"`
		Faults  []string                      `json:"faults"`
	}{reportVersion, r.InfraID, r.DryRun, r.Code(), sizes,
		append([]Line{}, r.Items...), r.Tags, append([]string{}, r.Running...), append([]string{}, r.Alive...), append([]string{}, r.Faults...)})
}
