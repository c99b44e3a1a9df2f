// Package faults stands between one program and the API server, and breaks one of the program's writes: the
// program is killed, its answer is lost, or it is refused, before or after the API server has the write.
package faults

import "net/http"

// Fault is what happens at a write. Its zero value is nothing.
type Fault struct {
	Name string
	// Done says that the API server has the write by then.
	Done bool
	// Ends says that the program is killed.
	Ends bool
	// Status is answered in the place of the API server; 0 is no answer, and the connection is cut.
	Status int
}

// All are the faults, from a crash to an API server that is too busy.
var All = []Fault{
	{Name: "killed before", Ends: true},
	{Name: "killed after", Ends: true, Done: true},
	{Name: "request lost"},
	{Name: "answer lost", Done: true},
	{Name: "forbidden", Status: http.StatusForbidden},
	{Name: "conflict", Status: http.StatusConflict},
	{Name: "too many requests", Status: http.StatusTooManyRequests},
	{Name: "internal error", Status: http.StatusInternalServerError},
	{Name: "unavailable", Status: http.StatusServiceUnavailable},
}
