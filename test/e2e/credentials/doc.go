// Package credentials is about the Ceph users that the drivers work as: whose they are, what
// they may do, and what happens to them.
package credentials
