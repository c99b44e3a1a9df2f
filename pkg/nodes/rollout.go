package nodes

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// stableGeneration is library-go's annotation of the DaemonSet generation that was rolled out.
const stableGeneration = "storage.openshift.io/stable-generation"

// RolledOut says whether a DaemonSet was rolled out as it is now: pods that end afterwards are no rollout.
func RolledOut(d *appsv1.DaemonSet) bool {
	return d.Annotations[stableGeneration] == strconv.FormatInt(d.Generation, 10)
}

// MarkRolledOut makes library-go take the generation of live for rolled out.
func MarkRolledOut(d, live *appsv1.DaemonSet) {
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, stableGeneration, strconv.FormatInt(live.Generation, 10))
}

// OnlyAway says whether nothing but nodes that are not ready, or cordoned, keeps a DaemonSet from being rolled
// out. They get their pods when they come back. On cordoned ones pods are replaced as anywhere.
func OnlyAway(d *appsv1.DaemonSet, unserved []Unserved) bool {
	return d.Status.ObservedGeneration == d.Generation && onlyOut(unserved) &&
		d.Status.UpdatedNumberScheduled+number(unserved, isAway) >= d.Status.DesiredNumberScheduled
}

// waitsForAdministrator says that pods are not replaced until somebody deletes them.
func waitsForAdministrator(d *appsv1.DaemonSet) bool {
	return d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

// leftAlone says whether nothing happens to the pods until an administrator deletes them, but on nodes that are not ready,
// or cordoned.
func leftAlone(d *appsv1.DaemonSet, unserved []Unserved) bool {
	return waitsForAdministrator(d) && (d.Status.NumberUnavailable == 0 || onlyOut(unserved))
}

func onlyOut(unserved []Unserved) bool {
	waited := slices.ContainsFunc(unserved, func(u Unserved) bool { return !isOut(u) && !u.Unregistered })
	return number(unserved, isOut) > 0 && !waited
}

// MakeRoom lets a rollout go on beside nodes that are not ready, or cordoned: Kubernetes counts their pods among
// those that may be unavailable, and replaces no other one when there are more of them. It changes d where live
// waits for that.
func MakeRoom(d, live *appsv1.DaemonSet, unserved []Unserved) error {
	count, rolling := number(unserved, isOut), d.Spec.UpdateStrategy.RollingUpdate
	if count == 0 || rolling == nil || live.Status.UpdatedNumberScheduled+number(unserved, isAway) >= live.Status.DesiredNumberScheduled {
		return nil
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, int(live.Status.DesiredNumberScheduled), true)
	if err != nil {
		return fmt.Errorf("maxUnavailable of DaemonSet %s: %w", d.Name, err)
	}
	rolling.MaxUnavailable = ptr.To(intstr.FromInt32(int32(most) + count))
	return nil
}

func isAway(u Unserved) bool { return u.Away }

func isOut(u Unserved) bool { return u.Away || u.Cordoned }

func number(unserved []Unserved, is func(Unserved) bool) (count int32) {
	for _, u := range unserved {
		if is(u) {
			count++
		}
	}
	return count
}
