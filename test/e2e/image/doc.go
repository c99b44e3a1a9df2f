// Package image tries, without a container engine, what the Dockerfile describes: a root file
// system with nothing in it but the program and the libraries that it is linked with.
package image
