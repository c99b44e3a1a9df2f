// Package commandline is what somebody sees who starts the operator wrongly.
package commandline
