package teardown

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Progress is told how a run gets on. Its methods may be called at the same time.
type Progress interface {
	// Start says how much there is to be removed, in items and bytes.
	Start(items int, bytes uint64)
	Step(Outcome)
	End()
}

type quiet struct{}

func (quiet) Start(int, uint64) {}
func (quiet) Step(Outcome)      {}
func (quiet) End()              {}

const (
	// barInterval is how often a bar is drawn anew, lineInterval how often a line is written where
	// nobody watches.
	barInterval  = 200 * time.Millisecond
	lineInterval = 10 * time.Second
	barWidth     = 30
)

// meter is a Progress that writes.
type meter struct {
	out   io.Writer
	clock clock.PassiveClock
	// terminal draws a bar over itself; else there is a line now and then.
	terminal bool

	mu           sync.Mutex
	total, done  int
	failures     int
	begin, shown time.Time
}

// NewProgress writes to a terminal or to a log.
func NewProgress(out io.Writer, terminal bool, now clock.PassiveClock) Progress {
	return &meter{out: out, terminal: terminal, clock: now}
}

func (m *meter) Start(items int, size uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total, m.begin, m.shown = items, m.clock.Now(), m.clock.Now()
	if !m.terminal {
		fmt.Fprintf(m.out, "removing %s, %s in all\n", plural(items, "item"), bytesText(size))
	}
}

func (m *meter) Step(o Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	if o.Err != nil {
		m.failures++
	}
	interval := lineInterval
	if m.terminal {
		interval = barInterval
	}
	if m.clock.Since(m.shown) < interval {
		return
	}
	m.shown = m.clock.Now()
	m.show()
}

func (m *meter) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.show()
	if m.terminal {
		fmt.Fprintln(m.out)
	}
}

func (m *meter) show() {
	text := m.text()
	if !m.terminal {
		fmt.Fprintln(m.out, text)
		return
	}
	full := 0
	if m.total > 0 {
		full = min(barWidth, barWidth*m.done/m.total)
	}
	// The sequence clears what a longer text left.
	fmt.Fprintf(m.out, "\r[%s%s] %s\x1b[K", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), text)
}

// text has the rate of the whole run: single items differ a thousandfold.
func (m *meter) text() string {
	text := fmt.Sprintf("%d/%d", m.done, m.total)
	elapsed := m.clock.Since(m.begin)
	if m.done > 0 && elapsed > 0 {
		text += fmt.Sprintf(", %.1f/s", float64(m.done)/elapsed.Seconds())
		if left := m.total - m.done; left > 0 {
			text += fmt.Sprintf(", %s left", (elapsed * time.Duration(left) / time.Duration(m.done)).Round(time.Second))
		}
	}
	if m.failures > 0 {
		text += fmt.Sprintf(", %d failed", m.failures)
	}
	return text
}
