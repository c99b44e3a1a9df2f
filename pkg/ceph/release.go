package ceph

import "fmt"

// OldestMajor and OldestMinor are the oldest release of Ceph that ceph-csi works with, in this version
// and in the next one: since 16.2 there are the commands that it sends. What is to be raised in a
// version is raised here in the one before, so that nobody comes to it with an older Ceph.
const OldestMajor, OldestMinor = 16, 2

// TooOld says whether a release such as "15.2.17" is older than that. One of no known form is not.
func TooOld(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < OldestMajor || major == OldestMajor && minor < OldestMinor
}
