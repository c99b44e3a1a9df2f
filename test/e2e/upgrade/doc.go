// Package upgrade takes a cluster that is in use from the former version of the operator to this one,
// back, and forward again. Its specs run in order, on one cluster.
package upgrade
