package state

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Cluster is the Ceph cluster that this OpenShift cluster uses. Its fields are never
// omitted from the JSON, so that writing replaces every one of them.
type Cluster struct {
	FSID  string `json:"fsid"`
	Epoch int64  `json:"epoch"`
	// Monitors are all mons in the form of config.json ("ip:port"), sorted.
	Monitors []string `json:"monitors"`
	// MonHost are the addresses by which a client of ours connects ("v2:ip:port").
	MonHost []string `json:"monHost"`
	// Others are the Ceph clusters beside this one, in which volumes may be: those that were in
	// use before, and further ones.
	Others []Other `json:"former"`
}

// Other is a Ceph cluster that the default classes do not use. Its fields are those of Cluster.
type Other struct {
	FSID     string   `json:"fsid"`
	Epoch    int64    `json:"epoch,omitempty"`
	Monitors []string `json:"monitors"`
	MonHost  []string `json:"monHost,omitempty"`
}

// ClusterOf is what is remembered of a Ceph cluster.
func ClusterOf(cluster ceph.Cluster) Cluster {
	out := Cluster{FSID: cluster.FSID, Epoch: cluster.MonMap.Epoch, Monitors: cluster.MonMap.Monitors()}
	for _, a := range cluster.MonMap.MonHost() {
		out.MonHost = append(out.MonHost, a.String())
	}
	return out
}

// Of returns what is known of a Ceph cluster, in use or not; nothing when it was never seen.
func (c Cluster) Of(fsid string) Other {
	switch i := slices.IndexFunc(c.Others, func(o Other) bool { return o.FSID == fsid }); {
	case fsid == "":
		return Other{}
	case c.FSID == fsid:
		return c.aside()
	case i >= 0:
		return c.Others[i]
	}
	return Other{}
}

func (c Cluster) aside() Other {
	return Other{FSID: c.FSID, Epoch: c.Epoch, Monitors: c.Monitors, MonHost: c.MonHost}
}

// Beside returns c with what is known of a Ceph cluster that the default classes do not use.
func (c Cluster) Beside(other Cluster) Cluster {
	i := slices.IndexFunc(c.Others, func(o Other) bool { return o.FSID == other.FSID })
	c.Others = slices.Clone(c.Others)
	if i < 0 {
		c.Others = append(c.Others, other.aside())
	} else {
		c.Others[i] = other.aside()
	}
	return c
}

// Succeed returns next with the clusters that came before it: those of c, and c itself if
// next is another Ceph cluster.
func (c Cluster) Succeed(next Cluster) Cluster {
	others := c.Others
	if c.FSID != "" && c.FSID != next.FSID {
		others = append(slices.Clone(others), c.aside())
	}
	for _, o := range others {
		seen := func(other Other) bool { return other.FSID == o.FSID }
		if o.FSID != next.FSID && !slices.ContainsFunc(next.Others, seen) {
			next.Others = append(next.Others, o)
		}
	}
	return next
}

// CephUsers says whether the driver works as Ceph users that the operator made for it.
type CephUsers struct {
	Minted bool `json:"minted"`
}

// Placement is where volumes of the default StorageClass go, once that was chosen.
type Placement struct {
	// FSID of the Ceph cluster for which it was chosen.
	FSID           string `json:"fsid"`
	Pool           string `json:"pool"`
	DataPool       string `json:"dataPool"`
	Filesystem     string `json:"filesystem"`
	SubvolumeGroup string `json:"subvolumeGroup"`
	// JournalNamespace is unknown to operators before this field: they leave it, and config.json, as they are.
	JournalNamespace string `json:"journalNamespace"`
}

// Settings are the settings that were valid last.
type Settings struct {
	// Ceph is spec.driverConfig.ceph as somebody wrote it; nil where it was not set.
	Ceph map[string]any `json:"ceph"`
	// Annotated is what the annotation of the ClusterCSIDriver said when Ceph was kept. An operator before this field
	// leaves it when it keeps other settings: they are newer than an annotation that says so still.
	Annotated string `json:"annotated"`
}

// Class is a class that is being made anew with other parameters, or that is gone while the driver is
// removed. It is empty otherwise.
type Class struct {
	// UID of the class that is to go.
	UID string `json:"uid"`
	// Annotations and Labels are all that it had.
	Annotations map[string]string `json:"annotations"`
	Labels      map[string]string `json:"labels"`
}

// ClassOf is what is remembered of a class before it goes.
func ClassOf(class metav1.Object) Class {
	return Class{UID: string(class.GetUID()), Annotations: class.GetAnnotations(), Labels: class.GetLabels()}
}

// Empty says that no class is to come back.
func (c Class) Empty() bool { return c.UID == "" }

// Give has the successor of the class take over its annotations, instead of those that a new class
// gets, and its labels.
func (c Class) Give(successor metav1.Object) {
	if c.Empty() {
		return
	}
	successor.SetAnnotations(maps.Clone(c.Annotations))
	labels := maps.Clone(successor.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, c.Labels)
	successor.SetLabels(labels)
}

// InfraID is who this cluster is to Ceph, once it uses any.
type InfraID struct {
	ID string `json:"id"`
}
