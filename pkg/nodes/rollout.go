package nodes

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// stableGeneration is library-go's annotation of the DaemonSet generation that was rolled out.
const stableGeneration = "storage.openshift.io/stable-generation"

// RolledOut says whether a DaemonSet was rolled out as it is now: pods that end afterwards are no rollout.
func RolledOut(d *appsv1.DaemonSet) bool {
	return d.Annotations[stableGeneration] == strconv.FormatInt(d.Generation, 10)
}

// MarkRolledOut makes library-go take the generation of live for rolled out.
func MarkRolledOut(d, live *appsv1.DaemonSet) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[stableGeneration] = strconv.FormatInt(live.Generation, 10)
}

// OnlyAway says whether nothing but nodes that are not ready keeps a DaemonSet from being rolled out. They
// get their pods when they come back.
func OnlyAway(d *appsv1.DaemonSet, unserved []Unserved) bool {
	away := int32(len(unserved))
	return d.Status.ObservedGeneration == d.Generation && away > 0 &&
		d.Status.UpdatedNumberScheduled+away >= d.Status.DesiredNumberScheduled &&
		!slices.ContainsFunc(unserved, func(u Unserved) bool { return !u.Away })
}
