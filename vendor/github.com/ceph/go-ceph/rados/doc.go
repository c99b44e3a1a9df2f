/*
Package rados contains a set of wrappers around Ceph's librados API.
*/
package rados
