// Package deploy is what a cluster looks like after one start of each operator, and that
// nothing happens afterwards: its specs only read.
package deploy
