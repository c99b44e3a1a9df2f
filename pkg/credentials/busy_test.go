package credentials

import (
	"context"
	"syscall"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// refusing is a session in which Ceph refuses caps once.
type refusing struct {
	Ceph
	errno syscall.Errno
}

func (r *refusing) SetCaps(ctx context.Context, id string, caps ceph.Caps) error {
	if errno := r.errno; errno != 0 {
		r.errno = 0
		return &ceph.CommandError{Command: "auth caps", Errno: -int(errno)}
	}
	return r.Ceph.SetCaps(ctx, id, caps)
}

// unsearchable is a session in which nobody finds images.
type unsearchable struct {
	Ceph
	err error
}

func (u *unsearchable) ImageNamespaces(ctx context.Context, pool string) ([]string, error) {
	if u.err != nil {
		return nil, u.err
	}
	return u.Ceph.ImageNamespaces(ctx, pool)
}

// TestSearchedAgain: what was left wide because nobody could look is not wide for long.
func TestSearchedAgain(t *testing.T) {
	f := newFixture(t, driver.RBD)
	class := f.class("fast", "fast")
	f.sync()
	session := &unsearchable{f.session, ceph.ErrTimeout}
	f.session = session
	f.must(f.classes.Delete(class))
	f.restart()
	f.later()
	f.mustCaps("nobody could look", andFast)
	session.err = nil
	f.clock.SetTime(f.clock.Now().Add(retrySearch))
	f.sync()
	f.mustCaps("somebody has", own)
}

// TestRefusedForNow: a class can be used as soon as Ceph takes what it has refused for a moment.
func TestRefusedForNow(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.EBUSY} {
		f := newFixture(t, driver.RBD)
		f.sync()
		f.session = &refusing{f.session, errno}
		f.class("fast", "fast")
		f.sync()
		f.mustCaps("refused: "+errno.Error(), own)
		f.clock.SetTime(f.clock.Now().Add(retryOutage))
		f.sync()
		f.mustCaps("asked again: "+errno.Error(), andFast)
	}
}
