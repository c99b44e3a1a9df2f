package tags

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// look finds the volumes whose tags are to be read, if there may be any.
func (c *Controller) look(clusters []ceph.Cluster) error {
	now := c.Clock.Now()
	config, err := c.ClusterIDs()
	if err != nil || len(config) == 0 {
		return err // Without config.json nobody knows in which group or namespace volumes are; it wakes the controller.
	}
	snapshots, complete, trouble := c.Contents.Taken()
	if !complete && trouble == nil {
		return nil // They will be there in a moment, and wake the controller.
	}
	known := fmt.Sprint(fsidsOf(clusters), config, trouble)
	if !c.looked.IsZero() && known == c.known && (now.Sub(c.looked) < lookPause || !c.news.Load() && now.Before(c.nextDue)) {
		return nil
	}
	c.news.Store(false)
	all, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	c.looked, c.known, c.trouble = now, known, trouble
	c.places = places{clusters: clusters, config: config, storage: c.Driver.Storage, known: map[string]place{}}
	clear(c.due)
	c.begin()
	detached := c.takeDetached()
	untagged := c.take(detached, func(volume string) bool {
		_, err := c.PersistentVolumes.Lister().Get(volume)
		return apierrors.IsNotFound(err)
	})
	for _, pv := range all {
		if !c.Driver.Serves(pv) {
			continue
		}
		if detached[pv.Name] {
			c.forget(c.key(volume{pv}))
		}
		c.consider(volume{pv}, now)
	}
	for _, s := range snapshots {
		if len(untagged) > 0 && untagged[uuidOf(s.Handle)] {
			c.forget(c.key(snapshot{s}))
		}
		c.consider(snapshot{s}, now)
	}
	c.end(now)
	return nil
}

// consider notes that an object is there, and whether its tags are to be read.
func (c *Controller) consider(s subject, now time.Time) {
	if s.leaving() {
		return
	}
	if fsid := c.places.of(s.place().Cluster()).fsid; fsid != "" && c.find(c.key(s), now) {
		c.due[fsid] = append(c.due[fsid], s)
	}
}

func fsidsOf(clusters []ceph.Cluster) []string {
	var out []string
	for _, cluster := range clusters {
		out = append(out, cluster.FSID)
	}
	return out
}

// batch looks at the next volumes of each Ceph cluster that answers.
func (c *Controller) batch(ctx context.Context, clusters []ceph.Cluster, infraID string) error {
	if c.Clock.Since(c.stepped) < step {
		return nil
	}
	c.stepped = c.Clock.Now()
	var errs []error
	for _, cluster := range clusters {
		fsid := cluster.FSID
		due := c.due[fsid]
		if len(due) == 0 || c.quiet(fsid) > 0 {
			continue
		}
		delete(c.silent, fsid)
		client, live := c.Client(fsid)
		if !live {
			c.silent[fsid] = c.Clock.Now()
			continue
		}
		next := due[:min(len(due), c.Driver.TagsPerSecond)]
		done, err := c.examine(ctx, session{client: client, cluster: cluster, infraID: infraID}, next)
		if c.due[fsid] = due[done:]; done == len(due) {
			delete(c.due, fsid)
		}
		if ceph.NoAnswer(err) {
			c.silent[fsid], err = c.Clock.Now(), nil
			if done == 0 {
				// The OSD of the first one may be the only one that is silent.
				c.due[fsid] = slices.Concat(due[1:], due[:1])
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
