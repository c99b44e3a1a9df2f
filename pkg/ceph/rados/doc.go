// Package rados connects to a real Ceph through librados. It is the only importer of
// go-ceph, needs cgo and librados' headers, and is imported by cmd alone.
//
// librados knows no context: every call runs on its own goroutine, is bounded by librados'
// own time-outs, and is given up when the caller's context ends.
package rados
