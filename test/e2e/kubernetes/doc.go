// Package kubernetes is a cluster without anything of OpenShift, such as Harvester's: no API, no
// service CA, no SecurityContextConstraints, no cluster version operator. Its specs run in their
// order, on one cluster, which ends as it began.
package kubernetes
