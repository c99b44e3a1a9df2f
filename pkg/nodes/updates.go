package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Updates keeps updates of node pods from ending mounts that live in them, and nodes that are not
// ready from holding updates up.
type Updates struct {
	ctrl.Env
	// Unavailable finds the nodes that miss a pod.
	Unavailable func(context.Context, *appsv1.DaemonSet) ([]Unserved, error)
}

// Matters says of what an event carries that it is a StorageClass or a volume of the driver that may be mounted by a
// process in the node pod: of the others, which come and go by the hundred, none is read.
func (n Updates) Matters(object any) bool {
	switch o := ctrl.Object(object).(type) {
	case *storagev1.StorageClass:
		return o.Provisioner == n.Driver.Name && driver.InUserSpace(o.Parameters)
	case *corev1.PersistentVolume:
		return n.Driver.Serves(o) && driver.InUserSpace(o.Spec.CSI.VolumeAttributes)
	}
	return false
}

// offered says whether a class asks for such mounts.
func (n Updates) offered() (bool, error) {
	classes, err := n.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return false, fmt.Errorf("listing StorageClasses: %w", err)
	}
	return slices.ContainsFunc(classes, func(class *storagev1.StorageClass) bool { return n.Matters(class) }), nil
}

// inUse says whether a volume may have such mounts.
func (n Updates) inUse() (bool, error) {
	volumes, err := n.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return false, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	return slices.ContainsFunc(volumes, func(volume *corev1.PersistentVolume) bool { return n.Matters(volume) }), nil
}

// Possible says that such mounts are possible; false, too, while nobody knows.
func (n Updates) Possible() bool {
	possible, err := n.possible()
	return err == nil && possible
}

// Impossible says that they are not; false, too, while nobody knows.
func (n Updates) Impossible() bool {
	possible, err := n.possible()
	return err == nil && !possible
}

func (n Updates) possible() (bool, error) {
	if !n.StorageClasses.Informer().HasSynced() || !n.PersistentVolumes.Informer().HasSynced() {
		return false, errUnread
	}
	if offered, err := n.offered(); offered || err != nil {
		return offered, err
	}
	return n.inUse()
}

var errUnread = errors.New("StorageClasses and PersistentVolumes were not listed yet")

// Hook has node pods see the node's processes, for library-go's controller of the DaemonSet, while such mounts are possible:
// rbd-nbd finds its processes, and ceph-fuse the groups of whoever opens a file, by the numbers that the kernel has for
// them. An outage does not end ceph-csi then, either. While there is such a volume, it leaves pods alone until an administrator deletes them.
// library-go would call that Progressing for ever, and a node that is not ready, too, so the hook marks
// the generation as rolled out; NodePodsCurrent and NodesServed tell of the pods instead.
func (n Updates) Hook(_ *operatorv1.OperatorSpec, daemonSet *appsv1.DaemonSet) error {
	offered, err := n.offered()
	if err != nil {
		return err
	}
	inUse, err := n.inUse()
	if err != nil {
		return err
	}
	if pod := &daemonSet.Spec.Template.Spec; offered || inUse {
		pod.HostPID = true
		driver.Outlast(pod)
	}
	if inUse {
		daemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	} else if cached, err := n.DaemonSets.Lister().DaemonSets(daemonSet.Namespace).Get(daemonSet.Name); err != nil || RolledOut(cached) || complete(cached) {
		return nil // library-go reads it next.
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookTimeout)
	defer cancel()
	// As library-go does next: a cache that is a moment behind would name the generation before.
	live, err := n.Kube.AppsV1().DaemonSets(daemonSet.Namespace).Get(ctx, daemonSet.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading DaemonSet %s: %w", daemonSet.Name, err)
	}
	unserved, err := n.missing(ctx, live)
	if err != nil {
		return err
	}
	done := leftAlone(live, unserved)
	if !inUse {
		if err := MakeRoom(daemonSet, live, unserved); err != nil {
			return err
		}
		done = OnlyAway(live, unserved)
	}
	if done {
		MarkRolledOut(daemonSet, live)
	}
	return nil
}

func complete(d *appsv1.DaemonSet) bool {
	return d.Status.UpdatedNumberScheduled >= d.Status.DesiredNumberScheduled && d.Status.NumberUnavailable == 0
}

// missing are the nodes that miss a pod. Pods that wait for an administrator are all there most of the time, which needs no
// request.
func (n Updates) missing(ctx context.Context, d *appsv1.DaemonSet) ([]Unserved, error) {
	if waitsForAdministrator(d) && d.Status.NumberUnavailable == 0 {
		return nil, nil
	}
	return n.Unavailable(ctx, d)
}

// hookTimeout ends a request to the API server; library-go gives its hooks no context.
const hookTimeout = 10 * time.Second

// current is the condition NodePodsCurrent for the DaemonSet as it stands, which is there only while it has something to say.
func (n Updates) current(d *appsv1.DaemonSet, unserved []Unserved) *condition.Said {
	if !leftAlone(d, unserved) || d.Status.ObservedGeneration != d.Generation ||
		d.Status.UpdatedNumberScheduled+number(unserved, isAway) >= d.Status.DesiredNumberScheduled {
		return condition.Absent(condition.NodePodsCurrent)
	}
	return condition.New(condition.NodePodsCurrent, operatorv1.ConditionFalse, condition.WaitingForDeletion, fmt.Sprintf(
		"Node pods are outdated and are not replaced by themselves, because mounts of ceph-fuse or rbd-nbd would end with them: drain each node, then: oc delete pod -n %s -l app=%s --field-selector spec.nodeName=NODE",
		driver.Namespace, n.Driver.NodeName()))
}

// Report says NodePodsCurrent.
func (n Updates) Report(ctx context.Context) error {
	cached, err := n.DaemonSets.Lister().DaemonSets(driver.Namespace).Get(n.Driver.NodeName())
	if apierrors.IsNotFound(err) {
		return condition.Say(ctx, n.Operator, condition.NodePodsCurrent, []string{condition.NodePodsCurrent})
	}
	if err != nil {
		return fmt.Errorf("reading DaemonSet %s: %w", n.Driver.NodeName(), err)
	}
	if !waitsForAdministrator(cached) {
		return condition.Say(ctx, n.Operator, condition.NodePodsCurrent, nil, condition.Absent(condition.NodePodsCurrent))
	}
	unserved, err := n.missing(ctx, cached)
	if err != nil {
		return err
	}
	return condition.Say(ctx, n.Operator, condition.NodePodsCurrent, nil, n.current(cached, unserved))
}
