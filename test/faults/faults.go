// Package faults stands between one program and the API server, and between it and Ceph's libraries, and
// breaks one of the program's writes: the program is killed, its answer is lost, or it is refused, before or
// after the API server or Ceph has the write; or from that write on, the program sees the cluster late, in
// part or not at all, its clock is wrong, or Ceph is silent or full.
package faults

import (
	"net/http"
	"slices"
	"time"
)

// Fault is what happens at a write. Its zero value is nothing.
type Fault struct {
	Name string
	// Done says that the API server has the write by then.
	Done bool
	// Ends says that the program is killed.
	Ends bool
	// Each, unless it is 0, has it happen at every so manieth write from the first one on.
	Each int
	// Status is answered in the place of the API server; 0 is no answer, and the connection is cut, unless
	// the write is passed on because the fault is another.
	Status int
	// View is how the program sees the API server from then on, for Lasting.
	View View
	// Silent is the part of Ceph that answers nobody from then on, for Lasting; Dies says that its daemons end, and are
	// started again afterwards.
	Silent Part
	Dies   bool
	// Jump is by how much the program's clock is wrong from then on, for Lasting.
	Jump time.Duration
	// Call is for a write to Ceph, with an errno or seconds as its Number; all others are for the API server.
	Call   Call
	Number int
}

// Lasting is how long a fault goes on that is more than one answer: longer than a sync, and shorter than
// anybody's patience.
const Lasting = 10 * time.Second

// View is what a program sees of the API server.
type View int

const (
	// Present is all there is, as it happens.
	Present View = iota
	// Late has watches say nothing, and all of it at the end.
	Late
	// Skipped has watches say nothing and end as too old, so that what was in between is never seen.
	Skipped
	// Missed has each watch end as too old with the first that it is to tell, again and again: of what comes and goes,
	// and of what changes twice, only some is ever seen.
	Missed
	// Past is Late, and lists from the API server's cache are as they were before the change.
	Past
	// Away is no API server.
	Away
	// Refusing has every write of the same kind answered with the fault's Status.
	Refusing
)

// Part is one of Ceph.
type Part string

const (
	Mons Part = "mons"
	Mgr  Part = "mgr"
	OSD  Part = "OSD"
	MDS  Part = "MDS"
	// Room is what pools have left: without it, who writes into one waits.
	Room Part = "room"
)

// All are the faults, from a crash to a Ceph that is silent, and those of single calls to it.
var All = slices.Concat(OfAPI, OfCeph)

// OfAPI are the faults that happen at a write to the API server.
var OfAPI = []Fault{
	{Name: "killed before", Ends: true},
	{Name: "killed after", Ends: true, Done: true},
	{Name: "killed before each 8th", Ends: true, Each: 8},
	{Name: "killed after each 8th", Ends: true, Done: true, Each: 8},
	{Name: "request lost"},
	{Name: "answer lost", Done: true},
	{Name: "forbidden", Status: http.StatusForbidden},
	{Name: "conflict", Status: http.StatusConflict},
	{Name: "too many requests", Status: http.StatusTooManyRequests},
	{Name: "internal error", Status: http.StatusInternalServerError},
	{Name: "unavailable", Status: http.StatusServiceUnavailable},
	{Name: "kind forbidden", Status: http.StatusForbidden, View: Refusing},
	{Name: "kind unavailable", Status: http.StatusServiceUnavailable, View: Refusing},
	{Name: "watches late", View: Late},
	{Name: "watches skip", View: Skipped},
	{Name: "watches miss each", View: Missed},
	{Name: "killed after, sees the past", Ends: true, Done: true, View: Past},
	{Name: "away", View: Away},
	{Name: "mons silent", Silent: Mons},
	{Name: "mgr silent", Silent: Mgr},
	{Name: "OSD silent", Silent: OSD},
	{Name: "MDS silent", Silent: MDS},
	{Name: "mons killed", Silent: Mons, Dies: true},
	{Name: "mgr killed", Silent: Mgr, Dies: true},
	{Name: "OSD ended", Silent: OSD, Dies: true},
	{Name: "MDS killed", Silent: MDS, Dies: true},
	{Name: "pools full", Silent: Room},
	{Name: "clock jumps ahead", Jump: time.Hour},
	{Name: "clock jumps back", Jump: -time.Hour},
}

// falls says whether the fault happens at a write, counted from 1, after it was armed for one.
func (f Fault) falls(armed, at int) bool {
	return armed > 0 && (at == armed || f.Each > 0 && at > armed && (at-armed)%f.Each == 0)
}

// Attempts are at how many of so many writes it can be armed for to be another one.
func (f Fault) Attempts(writes int) int {
	if f.Each > 0 {
		return min(writes, f.Each)
	}
	return writes
}

// passes says that the write itself is as any other.
func (f Fault) passes() bool {
	return !f.Ends && !f.Done && f.Status == 0 && (f.View != Present && f.View != Away || f.Silent != "" || f.Jump != 0)
}
