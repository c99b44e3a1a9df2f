// Package ceph holds what the rest of the tree knows of Ceph: value types, sentinel
// errors and pure parsers. It needs neither cgo nor Kubernetes; pkg/ceph/rados talks
// to a real Ceph, pkg/ceph/cephtest is one in memory.
package ceph
