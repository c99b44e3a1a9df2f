//go:build cgo

package rados

import (
	"errors"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testBrokenModule: what a mgr answers that has not loaded a module is no mistake of who asks, and
// no silence. The answer depends on the release, and on how far the module came.
func testBrokenModule(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	defer mendModule(t, f)
	for _, tc := range []struct{ name, reason, program string }{
		{"Import", "the mgr does not know the commands", "import no_such_library\n"},
		{"Start", "it knows them, and nobody who answers", `
from mgr_module import MgrModule
class Module(MgrModule):
    COMMANDS = [{"cmd": "fs subvolumegroup ls name=vol_name,type=CephString", "desc": "", "perm": "r"}]
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        raise RuntimeError("does not start")
`},
	} {
		check(t, c.BreakModule(t.Context(), "volumes", tc.program))
		_, err := f.conn.SubvolumeGroups(t.Context(), cephdaemons.Filesystem)
		t.Logf("%s: %v", tc.name, err)
		if !errors.Is(err, ceph.ErrNotLoaded) {
			t.Errorf("%s: got %v: %s", tc.name, err, tc.reason)
		}
		if _, err := f.manager.SubvolumeGroups(t.Context(), cephdaemons.Filesystem); !errors.Is(err, ceph.ErrNotLoaded) {
			t.Errorf("%s: over a connection for many commands: got %v", tc.name, err)
		}
	}
}

// mendModule returns when the mgr has loaded it.
func mendModule(t *testing.T, f files) {
	t.Helper()
	check(t, f.ceph.MendModule(t.Context(), "volumes"))
	deadline, tick := time.After(2*time.Minute), time.Tick(200*time.Millisecond)
	for {
		_, err := f.conn.SubvolumeGroups(t.Context(), cephdaemons.Filesystem)
		if err == nil {
			return
		}
		select {
		case <-tick:
		case <-deadline:
			t.Fatalf("the mgr does not load the module: %v", err)
		}
	}
}
