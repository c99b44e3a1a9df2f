//go:build cgo

package rados

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestHuntsSteadily: librados must not look for mons ever more rarely.
func TestHuntsSteadily(t *testing.T) {
	s := ceph.Source{Monitors: []ceph.Address{deadAddress(t)}, Credentials: ceph.Credentials{UserID: "admin", Key: wrongKey()}}
	conn, err := configure(s, s.Monitors, quick)
	check(t, err)
	got, err := conn.GetConfigOption("mon_client_hunt_interval_max_multiple")
	check(t, err)
	if got != "1.000000" {
		t.Errorf("got %q", got)
	}
}
