// Package trouble kills operators, and puts things of other people into their way.
package trouble
