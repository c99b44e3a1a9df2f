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
