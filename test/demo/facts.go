package main

import (
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// seen is what there is of one driver; what is missing is nil or empty.
type seen struct {
	// cluster is the Ceph cluster that the operator is connected to.
	cluster *state.Cluster
	// secrets are the driver's own, by name.
	secrets map[string]*corev1.Secret
	// place is what Ceph says of the place of the default StorageClass.
	place         string
	controller    *appsv1.Deployment
	node          *appsv1.DaemonSet
	class         *storagev1.StorageClass
	snapshotClass bool
	conditions    []operatorv1.OperatorCondition
}

// fact is one line of the story: what it is about, and what holds now; an empty text means
// that it is not there.
type fact struct{ about, text string }

const (
	defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
	waiting                = "waits for its pods"
	aboutPlace             = "place of volumes:"
)

// facts are told in the order in which things depend on each other.
func facts(d driver.Driver, s seen) []fact {
	return []fact{
		{"connection", connected(s.cluster)},
		{"Secret " + d.ConfigSecret(), monAddresses(s.secrets[d.ConfigSecret()])},
		{"Secret " + d.ProvisionerSecret(), user(s.secrets[d.ProvisionerSecret()])},
		{"Secret " + d.NodeSecret(), user(s.secrets[d.NodeSecret()])},
		{aboutPlace, s.place},
		{"Deployment " + d.ControllerName(), deployment(s.controller)},
		{"DaemonSet " + d.NodeName(), daemonSet(s.node)},
		{"StorageClass " + d.StorageClass, storageClass(s.class)},
		{"VolumeSnapshotClass " + d.SnapshotClass, map[bool]string{true: "exists"}[s.snapshotClass]},
		{"Disabled", disabled(s.conditions)},
		{"Available", available(d, s.conditions)},
		{"Progressing", progressing(s.conditions)},
		{"Degraded", degraded(s.conditions)},
	}
}

// unready lists what Kubernetes still lacks of a driver that works.
func unready(d driver.Driver, s seen) []string {
	var missing []string
	for _, f := range facts(d, s) {
		switch f.about {
		case "Disabled":
			missing = appendUnless(missing, f, f.text == "")
		case "Available":
			missing = appendUnless(missing, f, f.text == is(operatorv1.ConditionTrue))
		case "Degraded", "Progressing":
			missing = appendUnless(missing, f, f.text == is(operatorv1.ConditionFalse))
		case aboutPlace:
		default:
			missing = appendUnless(missing, f, f.text != "" && f.text != waiting)
		}
	}
	return missing
}

func appendUnless(missing []string, f fact, good bool) []string {
	if good {
		return missing
	}
	if f.text == "" {
		return append(missing, f.about)
	}
	return append(missing, f.about+", which "+f.text)
}

func connected(c *state.Cluster) string {
	if c == nil || c.FSID == "" {
		return ""
	}
	return fmt.Sprintf("to Ceph cluster %s, mons %s", c.FSID, strings.Join(c.Monitors, ", "))
}

func monAddresses(s *corev1.Secret) string {
	if s == nil || len(s.Data["config.json"]) == 0 {
		return ""
	}
	return "has the mon addresses"
}

// user reads the name of the cephx user, never its key.
func user(s *corev1.Secret) string {
	if s == nil || len(s.Data["userID"]) == 0 {
		return ""
	}
	return "has Ceph user client." + string(s.Data["userID"])
}

func deployment(d *appsv1.Deployment) string {
	if d == nil {
		return ""
	}
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	return readyOf(d.Status.ReadyReplicas, d.Status.UpdatedReplicas, wanted, d.Status.ObservedGeneration == d.Generation)
}

func daemonSet(d *appsv1.DaemonSet) string {
	if d == nil {
		return ""
	}
	return readyOf(d.Status.NumberReady, d.Status.UpdatedNumberScheduled, d.Status.DesiredNumberScheduled, d.Status.ObservedGeneration == d.Generation)
}

// readyOf does not count along: a rollout would be two lines for each pod.
func readyOf(ready, updated, wanted int32, current bool) string {
	if !current || ready < wanted || updated < wanted || wanted == 0 {
		return waiting
	}
	return fmt.Sprintf("ready %d/%d", ready, wanted)
}

func storageClass(c *storagev1.StorageClass) string {
	switch {
	case c == nil:
		return ""
	case c.Annotations[defaultClassAnnotation] == "true":
		return "exists, the default of the cluster"
	}
	return "exists"
}
