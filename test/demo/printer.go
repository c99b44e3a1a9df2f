package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// printer writes lines with the seconds since the start in front, and knows what it has said.
type printer struct {
	out   io.Writer
	now   func() time.Time
	begin time.Time

	mu   sync.Mutex
	said map[string]string
}

func newPrinter(out io.Writer, now func() time.Time) *printer {
	return &printer{out: out, now: now, begin: now(), said: map[string]string{}}
}

// say prints one line about a subject, such as a driver.
func (p *printer) say(subject, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(subject, fmt.Sprintf(format, args...))
}

// plain prints text as it is.
func (p *printer) plain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, text)
}

// show prints those facts about a subject that are not as they were last time.
func (p *printer) show(subject string, facts []fact) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range facts {
		key := subject + " " + f.about
		last, known := p.said[key]
		switch {
		case known && last == f.text:
			continue
		case f.text == "" && !known:
			continue
		case f.text == "":
			delete(p.said, key)
			p.line(subject, f.about+" is gone")
		default:
			p.said[key] = f.text
			p.line(subject, f.about+" "+f.text)
		}
	}
}

func (p *printer) line(subject, text string) {
	fmt.Fprintf(p.out, "%7.1f s  %-8s %s\n", p.now().Sub(p.begin).Seconds(), subject, strings.Join(strings.Fields(text), " "))
}

// of is a writer whose lines are about a subject.
func (p *printer) of(subject string) io.Writer { return subjectWriter{p, subject} }

type subjectWriter struct {
	printer *printer
	subject string
}

func (w subjectWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w.printer.say(w.subject, "%s", line)
	}
	return len(text), nil
}
