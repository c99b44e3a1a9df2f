package uninstall

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestReleasing: the commands are pasted into a shell; whoever set the cluster up has chosen its name.
func TestReleasing(t *testing.T) {
	got := releasing("it's $(b)", driver.RBD.Kind, "a b", "f")
	want := []string{
		`ceph osd pool application rm 'a b' rbd 'storage.openshift.io.nodelete.it'\''s $(b).rbd' # of Ceph cluster f`,
		`ceph osd pool set 'a b' nodelete false # and this, if no other cluster has a key there`,
		`ceph osd pool application rm 'a b' rbd storage.openshift.io.nodelete # likewise`,
		`ceph osd pool application rm 'a b' rbd 'storage.openshift.io.changing-nodelete.it'\''s $(b).rbd' # what an operator leaves that was killed, if it is there`,
		`rados -p 'a b' -N storage.openshift.io rm 'running.it'\''s $(b).rbd' # an empty object, if it is there`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
