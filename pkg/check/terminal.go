package check

import (
	"io"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Sequences that every terminal of today understands (ECMA-48, and xterm's for the second screen).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	endOfLine   = "\x1b[K"
	restBelow   = "\x1b[J"
)

// Terminal shows a screen in place of the one before. Each is one write over the last one, which is
// never cleared: so it does not flicker.
type Terminal struct {
	Out io.Writer
	// Size returns width and height, which may change.
	Size func() (width, height int)

	entered bool
}

// Show implements Screen.
func (t *Terminal) Show(lines func(width, height int) []string) error {
	var out strings.Builder
	if !t.entered {
		out.WriteString(enterScreen)
		t.entered = true
	}
	out.WriteString(toTop)
	for i, line := range lines(t.Size()) {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(ceph.OneLine(line) + endOfLine)
	}
	out.WriteString(restBelow)
	_, err := io.WriteString(t.Out, out.String())
	return err
}

// Close leaves the terminal as it was.
func (t *Terminal) Close() error {
	if !t.entered {
		return nil
	}
	t.entered = false
	_, err := io.WriteString(t.Out, leaveScreen)
	return err
}

// Plain writes the lines of a screen one after the other, for files and pipes; again when more has
// changed than the time in the first of them.
type Plain struct {
	Out io.Writer

	last []string
}

// Show implements Screen.
func (p *Plain) Show(lines func(width, height int) []string) error {
	now := lines(0, 0)
	if slices.Equal(now[1:], p.last) {
		return nil
	}
	var out strings.Builder
	if p.last != nil {
		out.WriteString("\n")
	}
	for _, line := range now {
		out.WriteString(ceph.OneLine(line) + "\n")
	}
	p.last = now[1:]
	_, err := io.WriteString(p.Out, out.String())
	return err
}
