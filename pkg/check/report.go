package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// State is the verdict on one thing.
type State string

// The states. Only Wrong makes the whole Wrong.
const (
	// OK is right.
	OK State = "ok"
	// Note is worth knowing.
	Note State = "note"
	// Unknown could not be looked at; the message says why.
	Unknown State = "unknown"
	// Wrong must be mended, or what was asked for will not work.
	Wrong State = "wrong"
)

// Line is the verdict on one thing.
type Line struct {
	Group string `json:"group"`
	// Name is what was looked at.
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message"`
	// Fix are commands, to be run one after the other.
	Fix []string `json:"fix,omitempty"`
}

// Report is the result of a check. It has no key.
type Report struct{ Lines []Line }

// State is Wrong if any line is, else OK.
func (r Report) State() State {
	if slices.ContainsFunc(r.Lines, func(l Line) bool { return l.State == Wrong }) {
		return Wrong
	}
	return OK
}

// reportVersion is raised when a field changes its meaning or goes.
const reportVersion = 1

// WriteJSON writes {"version":1,"result":"ok"|"wrong","lines":[…]}.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Version int    `json:"version"`
		Result  State  `json:"result"`
		Lines   []Line `json:"lines"`
	}{reportVersion, r.State(), append([]Line{}, r.Lines...)})
}

// WriteTable writes the lines for a person, by group.
func (r Report) WriteTable(w io.Writer) error {
	var out strings.Builder
	width := 0
	for _, l := range r.Lines {
		width = max(width, len(l.Name))
	}
	group := ""
	counts := map[State]int{}
	for _, l := range r.Lines {
		if l.Group != group {
			if group = l.Group; out.Len() > 0 {
				out.WriteString("\n")
			}
			fmt.Fprintln(&out, group)
		}
		counts[l.State]++
		fmt.Fprintf(&out, "  %-7s  %-*s  %s\n", l.State, width, l.Name, ceph.OneLine(l.Message))
		for _, fix := range l.Fix {
			fmt.Fprintf(&out, "           $ %s\n", ceph.OneLine(fix))
		}
	}
	fmt.Fprintf(&out, "\n%s\n", summary(counts))
	_, err := io.WriteString(w, out.String())
	return err
}

func summary(counts map[State]int) string {
	text := "Nothing is wrong"
	if n := counts[Wrong]; n > 0 {
		text = fmt.Sprintf("%d wrong", n)
	}
	for _, s := range []State{Unknown, Note, OK} {
		if n := counts[s]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, s)
		}
	}
	return text + "."
}
