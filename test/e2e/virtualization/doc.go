// Package virtualization brings what virtualization platforms bring, their CRDs, to a cluster
// with both drivers, and takes it away again. CDI's controller of StorageProfiles is the real one
// where it could be built; the others, and it elsewhere, are stand-ins: they behave as the real
// ones were observed to, as far as the operators rely on it. Each spec leaves the cluster as it found it.
package virtualization
