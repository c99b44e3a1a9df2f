package pools

import (
	"context"
	"errors"
	"time"

	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// groupInterval is how often a subvolume group that was there is looked for again.
const groupInterval = 5 * time.Minute

// session is a connection whose writes are told in events, and whose group command is sent
// more rarely than the others: it goes through the mgr.
type session struct {
	Ceph
	recorder events.Recorder
	clock    clock.PassiveClock
	// ensured says when a group was last looked for; it was there, or made.
	ensured map[string]time.Time
}

// use takes over a connection, and says whether it is another one than before. Over a new
// one, everything is looked at again.
func (s *session) use(client Ceph) bool {
	if s.Ceph == client {
		return false
	}
	s.Ceph = client
	s.forget()
	return true
}

func (s *session) CreatePool(ctx context.Context, name string) error {
	if err := s.Ceph.CreatePool(ctx, name); err != nil {
		return err
	}
	s.recorder.Eventf("CephPoolCreated", "Created Ceph pool %q for the default StorageClass", name)
	return nil
}

// EnsureSubvolumeGroup makes a group that was lost, with its filesystem for example: ceph-csi
// does not. A mgr that is silent says nothing against a group that was there.
func (s *session) EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	key := filesystem + "/" + group
	last, known := s.ensured[key]
	if known && s.clock.Since(last) < groupInterval {
		return nil
	}
	err := s.Ceph.EnsureSubvolumeGroup(ctx, filesystem, group)
	if err != nil && !(known && errors.Is(err, ceph.ErrTimeout)) {
		return err
	}
	if s.ensured == nil {
		s.ensured = map[string]time.Time{}
	}
	s.ensured[key] = s.clock.Now()
	return nil
}

// forget makes the next run look again, after something was not as expected.
func (s *session) forget() { s.ensured = nil }
