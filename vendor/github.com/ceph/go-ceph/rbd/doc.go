/*
Package rbd contains a set of wrappers around Ceph's librbd API.
*/
package rbd
