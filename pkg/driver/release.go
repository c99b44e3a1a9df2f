package driver

import (
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Container is the name of ceph-csi's container in the pods of all drivers.
const Container = "csi-driver"

// ImageIn is ceph-csi's in a pod; empty where it has no such container.
func ImageIn(pod corev1.PodSpec) string {
	at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == Container })
	if at < 0 {
		return ""
	}
	return pod.Containers[at].Image
}

// released is the tag of an image that tells its release of ceph-csi.
var released = regexp.MustCompile(`:v?3\.(\d+)(?:\.(\d+))?(?:[.-][^/]*)?(?:@|$)`)

// newest is the patch release of an image whose tag follows a minor release.
const newest = -1

// releaseOf is the minor and patch release of ceph-csi 3 that an image tells.
func releaseOf(image string) (minor, patch int, told bool) {
	found := released.FindStringSubmatch(image)
	if found == nil {
		return 0, 0, false
	}
	minor, _ = strconv.Atoi(found[1])
	patch, err := strconv.Atoi(found[2])
	if err != nil {
		patch = newest
	}
	return minor, patch, true
}

// OffersGroupSnapshots says whether ceph-csi of an image does. An image that does not tell its release
// is taken for one that the arguments of the operands are for, which all do.
func (d Driver) OffersGroupSnapshots(image string) bool {
	minor, _, told := releaseOf(image)
	return !told || minor >= d.GroupSnapshots
}

// Outlast has ceph-csi in a pod not end itself when a call is stuck for ten minutes, as 3.17 and later do (SlowGRPCRestart,
// internal/util/feature_gates.go): in an outage of Ceph, what it has mounted in user space would end with it. Earlier ones do not
// know the argument, so an image that does not tell its release is left as it is.
func Outlast(pod *corev1.PodSpec) {
	minor, _, told := releaseOf(ImageIn(*pod))
	for i := range pod.Containers {
		if c := &pod.Containers[i]; c.Name == Container && told && minor >= 17 {
			c.Args = append(c.Args, "--feature-gates=SlowGRPCRestart=false")
		}
	}
}
