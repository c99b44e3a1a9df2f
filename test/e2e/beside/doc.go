// Package beside is a cluster whose cluster-storage-operator does not know Ceph, and
// `cluster-storage` beside it: before a Ceph cluster is declared, once Rook declares one, while
// the API server is away, and after it was uninstalled. Its specs run in the order of their
// chapters, on one cluster.
package beside
