package tags

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// Report is what is known of the tags of volumes and snapshots, by fsid.
type Report map[string]Counts

// Counts is how many volumes and snapshots of a Ceph cluster there are of each kind; together
// they are all of the driver that are not being deleted.
type Counts struct {
	// Tagged ones say that they are this cluster's, whether ceph-csi finds them or not.
	Tagged int
	// Untagged ones should, and cannot be made to at the moment.
	Untagged int
	// Conflicting ones have the tag of another cluster, and keep it.
	Conflicting int
	// Missing ones have no image, subvolume or snapshot any more.
	Missing int
	// NothingToTag are volumes that show a snapshot, or a directory of an administrator's, and
	// snapshots of subvolumes that were removed.
	NothingToTag int
}

// maxNamed is how many volumes a message names.
const maxNamed = 3

// tell writes an event about a volume or snapshot that keeps another cluster's tag, once.
func (c *Controller) tell(ctx context.Context, of subject, p problem) {
	about := of.about()
	uid := string(about.UID)
	if c.told[uid] || len(c.told) >= maxEvents || !c.Ours() {
		return
	}
	if err := c.Warn(ctx, about, "ForeignTag", p.text+" and keeps it; if it belongs to this cluster: "+p.mend, 0); err != nil {
		klog.ErrorS(err, "An event was not written") // The next look tries again.
		return
	}
	c.told[uid] = true
}

// finding is what is known of the volumes in one Ceph cluster, after all were looked at.
type finding struct {
	counts    Counts
	sentences []sentence
}

// conclude publishes what is known of all volumes. A Ceph cluster that does not answer keeps its
// last finding.
func (c *Controller) conclude(ctx context.Context, clusters []ceph.Cluster, infraID string) error {
	published := Report{}
	var sentences []sentence
	for _, cluster := range clusters {
		if len(c.due[cluster.FSID]) == 0 {
			c.findings[cluster.FSID] = c.finding(cluster, infraID)
		}
		if found, known := c.findings[cluster.FSID]; known {
			published[cluster.FSID] = found.counts
			sentences = append(sentences, found.sentences...)
		}
	}
	if len(published) == 0 {
		return nil
	}
	c.Report.Set(published)
	if c.trouble != nil {
		sentences = append(sentences, unread(c.trouble))
	}
	return condition.Say(ctx, c.Operator, controllerName, nil, conditionOf(sentences))
}

func (c *Controller) finding(cluster ceph.Cluster, infraID string) finding {
	counts := c.count(cluster.FSID)
	out := finding{counts: Counts{
		Tagged:       counts[tagged] + counts[astray],
		Untagged:     counts[denied] + counts[unheard] + counts[unready] + counts[lasting] + counts[outrun] + counts[failed],
		Conflicting:  counts[foreign],
		Missing:      counts[missing],
		NothingToTag: counts[bare],
	}}
	if !c.Ours() {
		counts[astray] = 0 // Another ceph-csi serves them, from a config.json of its own.
	}
	for _, v := range []verdict{foreign, astray, denied, unheard, missing, lasting, failed} {
		if counts[v] > 0 {
			out.sentences = append(out.sentences, c.sentence(cluster, infraID, v, counts[v]))
		}
	}
	return out
}

// sentence is what is told of the volumes of one Ceph cluster with the same verdict.
type sentence struct{ reason, text string }

func conditionOf(sentences []sentence) *condition.Said {
	if len(sentences) == 0 {
		return condition.New(condition.VolumesTagged, operatorv1.ConditionTrue, condition.AsExpected, "")
	}
	var texts []string
	for _, s := range sentences {
		texts = append(texts, s.text)
	}
	return condition.New(condition.VolumesTagged, operatorv1.ConditionFalse, sentences[0].reason, strings.Join(texts, "; "))
}

// unread is what is told where the snapshots are not known.
func unread(err error) sentence {
	reason := condition.SyncError
	if apierrors.IsForbidden(err) {
		reason = condition.Forbidden
	}
	return sentence{reason, fmt.Sprintf("snapshots do not get the tags that they lack: %v", err)}
}

// sentence names some volumes, always the same ones, and quotes what is known of the first.
func (c *Controller) sentence(cluster ceph.Cluster, infraID string, v verdict, count int) sentence {
	var some []problem
	for _, p := range c.problems {
		if p.verdict == v && p.fsid == cluster.FSID {
			some = append(some, p)
		}
	}
	slices.SortFunc(some, func(a, b problem) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	first := problem{}
	if len(some) > 0 {
		first = some[0]
	}
	which := named(some, count) + " in Ceph cluster " + cluster.FSID
	switch v {
	case foreign:
		return sentence{condition.ForeignTag, fmt.Sprintf(
			"%s: tagged as another cluster's, not as %q, and left so: a teardown of %q does not find them; %s; what belongs here anyway gets the tag by '%s'",
			which, infraID, infraID, first.text, first.mend)}
	case astray:
		return sentence{condition.PlaceMissing, fmt.Sprintf(
			"%s: ceph-csi does not find them: %s; it mounts none, and takes each for deleted, so that its data would stay; say Retain in their PersistentVolumes until they are found: "+
				"the README of tags tells how volumes of an earlier cluster are taken over", which, first.text)}
	case denied, unheard:
		return sentence{condition.AccessDenied, fmt.Sprintf(
			"%s: client.%s may not read or write their tags: %s; give it the caps that README.md has for the operator's user",
			which, cluster.Credentials.UserID, first.text)}
	case missing:
		return sentence{condition.VolumeMissing, fmt.Sprintf(
			"%s: image, subvolume or snapshot does not exist: %s; their data is gone, but for images that 'rbd trash ls <pool>' still shows", which, first.text)}
	}
	return sentence{condition.SyncError, fmt.Sprintf("%s: no tags: %s", which, first.text)}
}

// named is such as "PersistentVolumes a, b, c and 7 more".
func named(some []problem, count int) string {
	some = some[:min(len(some), maxNamed)]
	var kinds []string
	for _, kind := range []string{"PersistentVolume", "VolumeSnapshotContent"} {
		var names []string
		for _, p := range some {
			if p.kind == kind {
				names = append(names, p.name)
			}
		}
		switch len(names) {
		case 0:
		case 1:
			kinds = append(kinds, kind+" "+names[0])
		default:
			kinds = append(kinds, kind+"s "+strings.Join(names, ", "))
		}
	}
	text := strings.Join(kinds, ", ")
	if more := count - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
