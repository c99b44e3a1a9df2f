/*
Package cephfs contains a set of wrappers around Ceph's libcephfs API.
*/
package cephfs
