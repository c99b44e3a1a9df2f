// Package shared is two OpenShift clusters that use one Ceph cluster: what is the one's, the other
// leaves alone.
package shared
