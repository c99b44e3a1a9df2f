// Package glue is the life of a cluster whose storage operator does not know Ceph: manifests
// applied, drivers started, reported, repaired, upgraded, and taken off again. Its specs run in
// the order of their file names, on one cluster.
package glue
