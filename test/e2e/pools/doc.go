// Package pools is what operators do about pools, filesystems and volumes in Ceph that they
// did not make: they tell what is missing, and keep what is in use.
package pools
