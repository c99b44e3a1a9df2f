// Package node is all of it as users run it: two real nodes of a Kubernetes without OpenShift, images
// under the manifests' names, README's commands, and pods that write to their volumes. Its specs run
// in their order, on one cluster.
package node
