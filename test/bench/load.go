package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// sampleTime is how often the memory of the operators is read under load.
const sampleTime = 500 * time.Millisecond

// load is what was measured of an operator on a large cluster on which much comes and goes, with faults.
type load struct {
	before, after resources
	// highest is the most private memory that it had in between, in MB.
	highest float64
	// requests are those without watches and leases; of the writes among them, events are counted apart.
	requests, writes, events int
	// changes are the objects that came or went.
	changes int
	// faults are those of both operators; slowest is how long one was felt.
	faults  int
	slowest time.Duration
	// flaps are how often one condition went Degraded, at most.
	flaps int
}

func (l *load) highestMemory() float64   { return l.highest }
func (l *load) privateAfter() float64    { return l.after.private() }
func (l *load) moreMemory() float64      { return l.after.private() / l.before.private() }
func (l *load) moreGoroutines() float64  { return l.after.goroutines / l.before.goroutines }
func (l *load) moreFiles() float64       { return l.after.files / l.before.files }
func (l *load) perChange() float64       { return float64(l.requests) / float64(l.changes) }
func (l *load) eventsPerChange() float64 { return float64(l.events) / float64(l.changes) }
func (l *load) writesPerFault() float64  { return float64(l.writes) / float64(l.faults) }
func (l *load) recovery() float64        { return l.slowest.Seconds() }
func (l *load) changesMade() float64     { return float64(l.changes) }
func (l *load) tooManyFlaps() float64    { return float64(max(0, l.flaps-l.faults)) }
func (l *load) faultsMet() float64       { return float64(l.faults) }

// loadRows are measured alone, because their operators have something in front of the API server.
func (b *bench) loadRows() []row {
	return []row{
		{what: "under load: private memory (RssAnon), at its highest", unit: megabytes, take: b.loaded((*load).highestMemory)},
		{what: "… afterwards", unit: megabytes, target: atMost(65), take: b.loaded((*load).privateAfter)},
		{what: "… afterwards, as much as before", unit: times, target: atMost(1.1), take: b.loaded((*load).moreMemory)},
		{what: "goroutines afterwards, as many as before", unit: times, target: atMost(1.1), take: b.loaded((*load).moreGoroutines)},
		{what: "open files afterwards, as many as before", unit: times, target: atMost(1.1), take: b.loaded((*load).moreFiles)},
		{what: "PersistentVolumes, Nodes and StorageClasses that came or went", unit: count, take: b.loaded((*load).changesMade)},
		{what: "requests for each of them, without lease and watches", unit: ratio, target: atMost(1), take: b.loaded((*load).perChange)},
		{what: "events for each of them", unit: ratio, take: b.loaded((*load).eventsPerChange)},
		{what: "faults", unit: count, take: b.loaded((*load).faultsMet)},
		{what: "other writes for each fault", unit: ratio, target: atMost(5), take: b.loaded((*load).writesPerFault)},
		{what: "fault → what was deleted is there again, at the latest", unit: seconds, target: atMost(60), take: b.loaded((*load).recovery)},
		{what: "times that a condition went Degraded, beyond once for each fault", unit: count, target: atMost(0), take: b.loaded((*load).tooManyFlaps)},
	}
}

// loaded measures both operators under load, once for all rows.
func (b *bench) loaded(figure func(*load) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if b.loads == nil {
			loads, err := b.underLoad(ctx)
			if err != nil {
				return 0, err
			}
			b.loads = loads
		}
		return figure(b.loads[d.Name]), nil
	}
}

func (b *bench) underLoad(ctx context.Context) (map[string]*load, error) {
	if err := b.fill(ctx); err != nil {
		return nil, err
	}
	if err := b.deployed(ctx); err != nil {
		return nil, err
	}
	before, err := b.rested(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]*load{}
	for _, d := range driver.All {
		out[d.Name] = &load{before: before[d.Name]}
	}
	begin := time.Now()
	if err := b.press(ctx, out); err != nil {
		return nil, err
	}
	for _, d := range driver.All {
		if err := b.count(d, begin, out[d.Name]); err != nil {
			return nil, err
		}
	}
	after, err := b.rested(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range driver.All {
		out[d.Name].after = after[d.Name]
	}
	return out, nil
}

// press changes the cluster and breaks what the operators do, until the time is over.
func (b *bench) press(ctx context.Context, loads map[string]*load) error {
	crowd, err := b.comeAndGo()
	if err != nil {
		return err
	}
	pressed, release := context.WithCancelCause(ctx)
	changing, sampling := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(changing)
		release(crowd.run(pressed))
	}()
	go func() {
		defer close(sampling)
		b.sampleMemory(pressed, loads)
	}()
	err = b.strikeAll(pressed, loads)
	release(nil)
	<-changing
	<-sampling
	if cause := context.Cause(pressed); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	for _, l := range loads {
		l.changes = crowd.changes
	}
	return errors.Join(ctx.Err(), err)
}

// sampleMemory remembers the highest until ctx ends.
func (b *bench) sampleMemory(ctx context.Context, loads map[string]*load) {
	for {
		for _, d := range driver.All {
			// One that has just been killed has none.
			if m, err := memoryOf(b.operators[d.Name].PID()); err == nil {
				loads[d.Name].highest = max(loads[d.Name].highest, m.private())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sampleTime):
		}
	}
}

// count is what an operator has asked for since begin, and what it has told.
func (b *bench) count(d driver.Driver, begin time.Time, l *load) error {
	requests, err := b.requests(d, begin)
	if err != nil {
		return err
	}
	asked := map[string]int{}
	for _, r := range requests {
		l.requests++
		switch {
		case isEvent(r):
			l.events++
		case isWrite(r):
			l.writes++
		}
		asked[summary(r)]++
	}
	for what, n := range asked {
		if n > l.faults {
			fmt.Fprintf(b.progress, "%s under load: %d × %s\n", d.Kind, n, what)
		}
	}
	flaps, err := b.flaps(d, begin)
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, c := range flaps {
		times[c.Type]++
		l.flaps = max(l.flaps, times[c.Type])
	}
	return nil
}

func isEvent(r auditv1.Event) bool { return r.ObjectRef != nil && r.ObjectRef.Resource == "events" }

// summary is a request without what is asked for of a kind.
func summary(r auditv1.Event) string {
	switch {
	case r.ObjectRef == nil:
		return r.Verb + " " + r.RequestURI
	case isEvent(r):
		return r.Verb + " events"
	}
	return r.Verb + " " + r.ObjectRef.Resource + " " + r.ObjectRef.Name
}
