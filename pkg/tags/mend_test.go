package tags

import (
	"context"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// mute lets so many changes of tags through, and then does not answer.
type mute struct {
	driver.TagStore
	left int
}

func (m *mute) ChangeImageMetadata(ctx context.Context, at ceph.ImagePlace, was ceph.ImageMetadata, change ceph.MetadataChange) error {
	if m.left--; m.left < 0 {
		return ceph.ErrTimeout
	}
	return m.TagStore.ChangeImageMetadata(ctx, at, was, change)
}

func (m *mute) ChangeSubvolumeMetadata(ctx context.Context, filesystem string, changes []ceph.SubvolumeChange) ([]error, error) {
	some := changes[:min(m.left, len(changes))]
	m.left -= len(some)
	errs, err := m.TagStore.ChangeSubvolumeMetadata(ctx, filesystem, some)
	if len(some) < len(changes) {
		err = ceph.ErrTimeout
	}
	return errs, err
}

// TestOutageBetweenChanges: what was changed is not read again.
func TestOutageBetweenChanges(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		for i := range 5 {
			f.add(r, i)
			r.add(t, provisioned(f.driver, i, 1))
		}
		// It needs nothing, but is found between the others.
		f.add(r, 9, flat(own(9))...)
		r.add(t, provisioned(f.driver, 9, 1))
		whole := r.client.TagStore
		r.client.TagStore = &mute{TagStore: whole, left: 2}
		r.sync(t)
		if _, told := r.controller.Report.Get(); told || r.writes() == 0 {
			t.Errorf("the report comes before the end: %t; writes %v", told, r.ceph.Writes())
		}
		r.client.TagStore = whole
		reads := r.client.reads
		r.later(t, time.Minute)
		for i := range 5 {
			f.expect(t, r, i, own(i))
		}
		r.expectCounts(t, Counts{Tagged: 6})
		if again := r.client.reads - reads; again > 4 {
			t.Errorf("%d volumes were read again, 2 of 6 were done", again)
		}
	})
}
