package tags

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// session is a Ceph cluster while a batch of its volumes is looked at.
type session struct {
	client  driver.TagStore
	cluster ceph.Cluster
	infraID string
}

// examine looks at volumes of one Ceph cluster and mends their tags. It returns how many of them
// it has come to an end with; an error is that of Ceph or the API server as a whole.
func (c *Controller) examine(ctx context.Context, s session, subjects []subject) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, batchDeadline)
	defer cancel()
	places := make([]driver.Volume, 0, len(subjects))
	for _, of := range subjects {
		places = append(places, c.volumeOf(of))
	}
	found, trouble := c.Driver.Tagging.Tags(ctx, s.client, places)
	if done, err := c.mend(ctx, s, subjects[:len(found)], found); err != nil {
		return done, err
	}
	if ceph.NoAnswer(trouble) {
		if len(found) == 0 {
			return 0, trouble
		}
		// The OSD of this one may be the only one that is silent: the others come first.
		c.note(s, subjects[len(found)], unready, problem{})
		return len(found) + 1, trouble
	}
	for _, of := range subjects[len(found):] {
		c.note(s, of, verdictOf(trouble), describe(trouble))
	}
	return len(subjects), nil
}

// note records what was found of a volume.
func (c *Controller) note(s session, of subject, v verdict, p problem) {
	about := of.about()
	p.kind, p.name = about.Kind, about.Name
	c.put(c.key(of), s.cluster.FSID, v, c.Clock.Now(), p)
}

// verdictOf is what an error about one volume says of it.
func verdictOf(err error) verdict {
	for _, known := range []struct {
		err error
		verdict
	}{
		{driver.ErrNothingToTag, bare}, {ceph.ErrRetained, bare},
		{ceph.ErrNotFound, missing},
		{ceph.ErrNotReady, unready}, {ceph.ErrNoActiveMDS, unready}, {ceph.ErrNotLoaded, unready},
		{ceph.ErrChanged, outrun},
		{ceph.ErrUnheard, unheard}, {ceph.ErrDenied, denied},
	} {
		if errors.Is(err, known.err) {
			return known.verdict
		}
	}
	return failed
}

// mend gives volumes and snapshots the tags they lack: all together, because Ceph takes longer to
// connect than to be told. It returns what examine does.
func (c *Controller) mend(ctx context.Context, s session, subjects []subject, found []driver.Tags) (int, error) {
	var trouble error
	var changes []driver.Retag
	var changed []int
	results := make([]result, 0, len(subjects))
	for i, of := range subjects {
		judged, change, err := c.judge(ctx, s, of, found[i])
		if trouble = err; err != nil {
			break
		}
		results = append(results, judged)
		if !change.Empty() {
			changes, changed = append(changes, driver.Retag{Tags: found[i], MetadataChange: change}), append(changed, i)
		}
	}
	errs, err := c.Driver.Tagging.Retag(ctx, s.client, changes)
	for n, refused := range errs {
		if refused != nil {
			results[changed[n]] = result{verdictOf(refused), describe(refused)}
		}
	}
	if err != nil {
		results, trouble = results[:changed[len(errs)]], err
	}
	for i, r := range results {
		c.note(s, subjects[i], r.verdict, r.problem)
		if r.verdict == foreign {
			c.tell(ctx, subjects[i], r.problem)
		}
	}
	return len(results), trouble
}

// result is what came of one volume or snapshot.
type result struct {
	verdict
	problem problem
}

// judge says what the tags of a volume or snapshot lack. Its error is that of the API server.
func (c *Controller) judge(ctx context.Context, s session, of subject, found driver.Tags) (result, ceph.MetadataChange, error) {
	none := ceph.MetadataChange{}
	if found.Err != nil {
		return result{verdictOf(found.Err), describe(found.Err)}, none, nil
	}
	if v, is := of.(volume); is && found.Shown {
		if c.saw(v.Name, found.ShownUUID(), ceph.Owner(found.Values) != "") {
			c.news.Store(true)
		}
		return result{verdict: bare}, c.shown(v, s.infraID, found.Values), nil
	}
	if other := another(found.Values, s.infraID); other != "" {
		mend := c.Driver.Tagging.TagCommand(found, ceph.TagCluster, s.infraID)
		if found.Values[ceph.TagOwner] != "" {
			mend = c.Driver.Tagging.TagCommand(found, ceph.TagOwner, s.infraID) + " && " + mend
		}
		return result{foreign, problem{
			text: fmt.Sprintf("%s of %s has the tag of cluster %q", c.Driver.Tagging.Where(found), nameOf(of), other), mend: mend,
		}}, none, nil
	}
	good := result{verdict: tagged}
	if found.Unrecorded != "" {
		good = result{astray, problem{text: fmt.Sprintf("%s of %s is not in the journal in %s, where config.json has ceph-csi look",
			c.Driver.Tagging.Where(found), nameOf(of), found.Unrecorded)}}
	}
	if !c.unowned(found.Values) && of.complete(s.infraID, found.Values) {
		return good, none, nil
	}
	change, err := of.change(ctx, c, s.infraID, found.Values)
	return good, change, err
}

// another is the cluster that one of the tags names, if it is not this one.
func another(values map[string]string, infraID string) string {
	for _, key := range []string{ceph.TagOwner, ceph.TagCluster} {
		if other := values[key]; other != "" && other != infraID {
			return other
		}
	}
	return ""
}

// unowned says that a volume or snapshot lacks the tag that stays where ceph-csi takes the other one away.
func (c *Controller) unowned(values map[string]string) bool {
	return c.Driver.DetachUntags && values[ceph.TagOwner] == ""
}

// own adds that tag to a change.
func (c *Controller) own(change ceph.MetadataChange, infraID string, values map[string]string) ceph.MetadataChange {
	if c.unowned(values) {
		change.Set[ceph.TagOwner] = infraID
	}
	return change
}

// describe is what people are told of an error about one volume.
func describe(err error) problem {
	switch verdictOf(err) {
	case bare, outrun:
		return problem{}
	}
	return problem{text: err.Error()}
}

// retainedElsewhere says that another PersistentVolume has the same volume and retains it.
func (c *Controller) retainedElsewhere(pv *corev1.PersistentVolume) bool {
	all, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return true // The mark is removed when that is certain.
	}
	for _, other := range all {
		if other.UID != pv.UID && c.Driver.Serves(other) && (volume{other}).retained() && other.Spec.CSI.VolumeHandle == pv.Spec.CSI.VolumeHandle {
			return true
		}
	}
	return false
}
