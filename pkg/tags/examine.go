package tags

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
func (c *controller) examine(ctx context.Context, s session, volumes []*corev1.PersistentVolume) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, batchDeadline)
	defer cancel()
	places := make([]driver.Volume, 0, len(volumes))
	for _, volume := range volumes {
		places = append(places, c.volumeOf(volume))
	}
	found, trouble := c.Driver.Tagging.Tags(ctx, s.client, places)
	for i, volume := range volumes[:len(found)] {
		v, p, err := c.mend(ctx, s, volume, found[i])
		if err != nil {
			return i, err
		}
		c.note(s, volume, v, p)
		if v == foreign {
			c.tell(ctx, volume, p)
		}
	}
	if outage(trouble) {
		if len(found) == 0 {
			return 0, trouble
		}
		// The OSD of this one may be the only one that is silent: the others come first.
		c.note(s, volumes[len(found)], unready, problem{})
		return len(found) + 1, trouble
	}
	for _, volume := range volumes[len(found):] {
		c.note(s, volume, verdictOf(trouble), describe(trouble))
	}
	return len(volumes), nil
}

// note records what was found of a volume.
func (c *controller) note(s session, volume *corev1.PersistentVolume, v verdict, p problem) {
	p.volume = volume.Name
	c.put(c.key(volume), s.cluster.FSID, v, c.Clock.Now(), p)
}

// verdictOf is what an error about one volume says of it.
func verdictOf(err error) verdict {
	for _, known := range []struct {
		err error
		verdict
	}{
		{driver.ErrNothingToTag, bare},
		{ceph.ErrNotFound, missing},
		{ceph.ErrNotReady, unready}, {ceph.ErrNoActiveMDS, unready}, {ceph.ErrChanged, unready},
		{ceph.ErrDenied, denied},
	} {
		if errors.Is(err, known.err) {
			return known.verdict
		}
	}
	return failed
}

// mend gives a volume the tags it lacks. Before it writes, it reads the PersistentVolume anew.
func (c *controller) mend(ctx context.Context, s session, volume *corev1.PersistentVolume, found driver.Tags) (verdict, problem, error) {
	if found.Err != nil {
		return verdictOf(found.Err), describe(found.Err), nil
	}
	if other := owner(found.Values); other != "" && other != s.infraID {
		return foreign, problem{
			text: fmt.Sprintf("%s of PersistentVolume %s has the tag of cluster %q", c.Driver.Tagging.Where(found), volume.Name, other),
			mend: c.Driver.Tagging.TagCommand(found, ceph.TagCluster, s.infraID),
		}, nil
	}
	if complete(s.infraID, volume, found.Values) {
		return tagged, problem{}, nil
	}
	live, err := c.Volumes.PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return failed, problem{}, fmt.Errorf("reading PersistentVolume %s: %w", volume.Name, err)
	}
	if err != nil || live.UID != volume.UID || leaving(live) {
		return tagged, problem{}, nil // The informer will tell of it.
	}
	// Who asks about a volume without a mark is not the one who would set it.
	_, mark := found.Values[ceph.TagRetain]
	retain := retained(live) || mark && c.retainedElsewhere(live)
	change := decide(s.infraID, live, retain, found.Values)
	if change.Empty() {
		return tagged, problem{}, nil
	}
	err = c.Driver.Tagging.Retag(ctx, s.client, found, change)
	if outage(err) {
		return failed, problem{}, err
	}
	if err != nil {
		return verdictOf(err), describe(err), nil
	}
	return tagged, problem{}, nil
}

// describe is what people are told of an error about one volume.
func describe(err error) problem {
	switch verdictOf(err) {
	case bare, unready:
		return problem{}
	}
	return problem{text: err.Error()}
}

// retainedElsewhere says that another PersistentVolume has the same volume and retains it.
func (c *controller) retainedElsewhere(volume *corev1.PersistentVolume) bool {
	all, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return true // The mark is removed when that is certain.
	}
	for _, other := range all {
		if other.UID != volume.UID && c.Driver.Serves(other) && retained(other) && other.Spec.CSI.VolumeHandle == volume.Spec.CSI.VolumeHandle {
			return true
		}
	}
	return false
}
