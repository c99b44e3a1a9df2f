package check

import (
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestUser(t *testing.T) {
	own := ceph.Pool{Name: "demo-rbd", Applications: []string{"rbd"}}
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   []expect
	}{
		"Passthrough": {
			reason: "all rights but those to make users: the drivers work as this user",
			change: func(r *rig) { r.as("x", readme) },
			want: []expect{
				{group: "User", name: "minting", state: Note, message: []string{"client.x may not make users"}},
				{group: "User", name: "passthrough RBD", state: OK},
				{group: "User", name: "passthrough CephFS", state: Unknown, message: []string{"caps for mds", "ceph auth get client.x"}},
				{group: "User", name: "pool protection", state: OK},
			},
		},
		"Mint": {
			reason: "a minting user needs no rights to data: the drivers get users of their own",
			change: func(r *rig) { r.as("x", driver.MintingCaps) },
			want: []expect{
				{group: "User", name: "minting", state: OK},
				{group: "User", name: "passthrough RBD", state: OK},
				{group: "User", name: "passthrough CephFS", state: Note, message: []string{"not needed"}},
				{group: "CephFS", name: "subvolume group", state: OK, message: []string{"<infrastructure name> is not there yet"}},
			},
		},
		"MintWithoutClaims": {
			reason: "a claim in a pool's application metadata gives the right to a driver that runs",
			change: func(r *rig) {
				r.as("x", driver.MintingCaps)
				r.ceph.Deny("x", "osd pool application set")
			},
			want: []expect{
				{group: "User", name: "minting", state: Note, message: []string{`may not send "osd pool application set"`, "restarted, or an hour"}, fix: `allow command "osd pool application set"`},
			},
		},
		"MintInPart": {
			reason: "the operator would fail on the first drift of caps",
			change: func(r *rig) {
				r.as("x", readme.With(ceph.Caps{Mon: `allow command "auth get-or-create"`}))
			},
			want: []expect{{group: "User", name: "minting", state: Wrong, message: []string{`"auth get", "auth caps"`}, fix: "ceph auth caps client.x mds 'allow rw' mgr "}},
		},
		"ReadsKeys": {
			reason: "the operator would give this key to nobody",
			change: func(r *rig) {
				r.as("x", readme.With(ceph.Caps{Mon: `allow command "auth get-key" with entity prefix client.x`}))
			},
			want: []expect{{group: "User", name: "minting", state: Wrong, message: []string{`may not make users, but may send "auth get-key"`},
				fix: "ceph auth caps client.x mds 'allow rw' mgr "}},
		},
		"MintWanted": {
			reason: "ceph.credentials is Mint for both drivers",
			change: func(r *rig) {
				r.as("x", readme)
				r.tune("rbd.csi.ceph.com", map[string]any{"credentials": "Mint"})
				r.tune("cephfs.csi.ceph.com", map[string]any{"credentials": "Mint"})
				r.withCluster()
			},
			want: []expect{{group: "User", name: "minting", state: Wrong, message: []string{"ceph.credentials is Mint"}, fix: `allow command "auth get-or-create" with entity prefix client.csi-`}},
		},
		"PassthroughWanted": {
			reason: "ceph.credentials is Passthrough, and the user lacks what the drivers need",
			change: func(r *rig) {
				r.as("x", driver.MintingCaps)
				r.tune("rbd.csi.ceph.com", map[string]any{"credentials": "Passthrough"})
				r.tune("cephfs.csi.ceph.com", map[string]any{"credentials": "Passthrough"})
				r.withCluster()
			},
			want: []expect{
				{group: "User", name: "minting", state: OK, message: []string{"not wanted"}},
				{group: "User", name: "passthrough CephFS", state: Wrong, message: []string{"mount filesystems"}, fix: "allow rw tag cephfs data=*"},
			},
		},
		"Reader": {
			reason: "caps for reading only: each right that is missing is named",
			change: func(r *rig) {
				r.ceph.AddPool(own)
				r.config.Pool = "demo-rbd"
				r.as("x", ceph.Caps{Mon: "allow r", OSD: "allow r"})
			},
			want: []expect{
				{group: "User", name: "passthrough RBD", state: Wrong, message: []string{`"osd blocklist"`, `"rbd task add flatten"`, "objects of pool demo-rbd"}, fix: "ceph auth caps client.x"},
				{group: "User", name: "passthrough CephFS", state: Wrong, message: []string{`"fs subvolume create"`, "objects of pool myfs-data"}},
				{group: "User", name: "pool protection", state: Note, message: []string{`"osd pool set"`}},
				{group: "RBD", name: "pool", state: OK, message: []string{"demo-rbd exists"}},
				{group: "CephFS", name: "subvolume group", state: Wrong, message: []string{"neither see nor make"}, fix: "ceph fs subvolumegroup create myfs csi"},
			},
		},
		"OnlyRBD": {
			reason: "the narrow user of ceph-csi's documentation, for one driver",
			change: func(r *rig) {
				r.config.Drivers = r.config.Drivers[:1]
				r.config.Pool = "vms"
				r.as("x", ceph.Caps{Mon: "profile rbd", Mgr: "profile rbd", OSD: "profile rbd pool=vms"})
			},
			want: []expect{
				{group: "User", name: "passthrough RBD", state: OK},
				{group: "RBD", name: "pool", state: OK, message: []string{"vms exists"}},
			},
		},
		"NoMDSCaps": {
			reason: "a user who may see itself tells its caps for mds, and who makes others needs none",
			change: func(r *rig) {
				caps := readme.With(ceph.Caps{Mon: `allow command "auth get"`})
				caps.MDS = ""
				r.as("x", caps)
			},
			want: []expect{
				{group: "User", name: "minting", state: Wrong, message: []string{`"auth get-or-create"`}, fix: "ceph auth caps client.x mgr "},
				{group: "User", name: "passthrough CephFS", state: Wrong, message: []string{"mount filesystems"}, fix: "mds 'allow rw'"},
			},
		},
		"Unprotected": {
			reason: "protection is off for both drivers",
			change: func(r *rig) {
				r.as("x", ceph.Caps{Mon: "allow *", Mgr: "allow *", OSD: "allow *", MDS: "allow *"})
				r.ceph.Deny("x", "osd pool set")
				r.tune("rbd.csi.ceph.com", map[string]any{"poolProtection": "Disabled"})
				r.tune("cephfs.csi.ceph.com", map[string]any{"poolProtection": "Disabled"})
				r.withCluster()
			},
			want: []expect{{group: "User", name: "pool protection", state: OK, message: []string{"not wanted"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			verify(t, r.run(), tc.want)
		})
	}
}
