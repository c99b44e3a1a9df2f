// Package arguments starts the program of every container that manifests and assets have, exactly as
// they have it, until it serves.
package arguments
