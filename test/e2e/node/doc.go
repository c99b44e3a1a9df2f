// Package node is all of it as users run it: two real nodes, images under the manifests' names, README's
// commands, and pods that write to their volumes. Its functions are groups of specs, which the suites
// below run in their order, on one cluster.
package node
