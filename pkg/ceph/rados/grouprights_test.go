//go:build cgo

package rados

import (
	"errors"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testGroupRights: the controllers' users manage subvolumes in their own groups, and nobody else's; the nodes'
// ask where these are, and note by whom they were mounted.
func testGroupRights(t *testing.T, c *cephdaemons.Ceph) {
	for _, group := range []string{"mine", "theirs"} {
		command(t, c, "fs", "subvolumegroup", "create", cephdaemons.Filesystem, group)
	}
	command(t, c, "fs", "subvolume", "create", cephdaemons.Filesystem, "foreign", "--group_name", "theirs")
	as := source(t, c)
	admin, err := Dial(t.Context(), as, Options{})
	check(t, err)
	t.Cleanup(admin.Close)
	caps, err := driver.CephFS.Rights.Caps(t.Context(), admin, "claim", []driver.Used{{Placement: ceph.Placement{Filesystem: cephdaemons.Filesystem, SubvolumeGroup: "mine"}}})
	check(t, err)
	as.Credentials = addUser(t, c, "grouped", caps.Provisioner.Arguments()...)
	try(t, as, []groupRight{
		{"a group that is there", "fs subvolumegroup create", arguments{"group_name": "mine"}, true},
		{"a volume", "fs subvolume create", arguments{"sub_name": "v", "group_name": "mine"}, true},
		{"its size", "fs subvolume resize", arguments{"sub_name": "v", "group_name": "mine", "new_size": "1048576"}, true},
		{"which MDS serves it", "fs subvolume pin", arguments{"sub_name": "v", "group_name": "mine", "pin_type": "export", "pin_setting": "0"}, true},
		{"what it is", "fs subvolume info", arguments{"sub_name": "v", "group_name": "mine"}, true},
		{"whose it is", "fs subvolume metadata set", arguments{"sub_name": "v", "group_name": "mine", "key_name": "k", "value": "x"}, true},
		{"who may mount it, and on which nodes it is", "fs subvolume metadata ls", arguments{"sub_name": "v", "group_name": "mine"}, true},
		{"whose it was", "fs subvolume metadata rm", arguments{"sub_name": "v", "group_name": "mine", "key_name": "k"}, true},
		{"where it is", "fs subvolume getpath", arguments{"sub_name": "v", "group_name": "mine"}, true},
		{"a snapshot", "fs subvolume snapshot create", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine"}, true},
		{"what it is", "fs subvolume snapshot info", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine"}, true},
		{"whose it is", "fs subvolume snapshot metadata set", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine", "key_name": "k", "value": "x"}, true},
		{"who may mount it, and on which nodes it is", "fs subvolume snapshot metadata ls", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine"}, true},
		{"whose it was", "fs subvolume snapshot metadata rm", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine", "key_name": "k"}, true},
		{"a clone", "fs subvolume snapshot clone", arguments{"sub_name": "v", "snap_name": "s", "target_sub_name": "c", "group_name": "mine", "target_group_name": "mine"}, true},
		{"a clone among another one's", "fs subvolume snapshot clone", arguments{"sub_name": "v", "snap_name": "s", "target_sub_name": "c", "group_name": "mine", "target_group_name": "theirs"}, false},
		{"a clone in nobody's group", "fs subvolume snapshot clone", arguments{"sub_name": "v", "snap_name": "s", "target_sub_name": "c", "group_name": "mine"}, false},
		{"its state", "fs clone status", arguments{"clone_name": "c", "group_name": "mine"}, true},
		{"another snapshot", "fs subvolume snapshot create", arguments{"sub_name": "v", "snap_name": "t", "group_name": "mine"}, true},
		{"its removal", "fs subvolume snapshot rm", arguments{"sub_name": "v", "snap_name": "t", "group_name": "mine"}, true},
		{"another volume", "fs subvolume create", arguments{"sub_name": "u", "group_name": "mine"}, true},
		{"its removal", "fs subvolume rm", arguments{"sub_name": "u", "group_name": "mine"}, true},
		{"in nobody's group", "fs subvolume create", arguments{"sub_name": "w"}, false},
		{"another one's volume", "fs subvolume info", arguments{"sub_name": "foreign", "group_name": "theirs"}, false},
		{"another one's volume", "fs subvolume rm", arguments{"sub_name": "foreign", "group_name": "theirs"}, false},
		{"another one's group", "fs subvolumegroup rm", arguments{"group_name": "theirs"}, false},
		{"a filesystem", "fs volume rm", arguments{"yes-i-really-mean-it": "--yes-i-really-mean-it"}, false},
	})
	const mounted = ".cephfs.csi.ceph.com/userid/handle/node"
	as.Credentials = addUser(t, c, "mounting", caps.Node.Arguments()...)
	try(t, as, []groupRight{
		{"where it is", "fs subvolume info", arguments{"sub_name": "v", "group_name": "mine"}, true},
		{"where it is", "fs subvolume snapshot info", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine"}, true},
		{"by whom it is mounted", "fs subvolume metadata set", arguments{"sub_name": "v", "group_name": "mine", "key_name": mounted, "value": "x"}, true},
		{"by whom it is mounted", "fs subvolume snapshot metadata set", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine", "key_name": mounted, "value": "x"}, true},
		{"whose it is", "fs subvolume metadata set", arguments{"sub_name": "v", "group_name": "mine", "key_name": ceph.TagCluster, "value": "x"}, false},
		{"whose it is", "fs subvolume snapshot metadata set", arguments{"sub_name": "v", "snap_name": "s", "group_name": "mine", "key_name": ceph.TagCluster, "value": "x"}, false},
		{"whose it was", "fs subvolume metadata rm", arguments{"sub_name": "v", "group_name": "mine", "key_name": mounted}, false},
		{"another one's volume", "fs subvolume metadata set", arguments{"sub_name": "foreign", "group_name": "theirs", "key_name": mounted, "value": "x"}, false},
		{"its removal", "fs subvolume rm", arguments{"sub_name": "v", "group_name": "mine"}, false},
	})
}

// groupRight is a command that a user may send, or not.
type groupRight struct {
	reason  string
	prefix  string
	args    arguments
	allowed bool
}

// try sends commands as a user.
func try(t *testing.T, as ceph.Source, tests []groupRight) {
	t.Helper()
	conn, err := Dial(t.Context(), as, Options{})
	check(t, err)
	t.Cleanup(conn.Close)
	for _, tc := range tests {
		tc.args["vol_name"] = cephdaemons.Filesystem
		if _, err := conn.mgr(t.Context(), tc.prefix, tc.args); tc.allowed && err != nil || !tc.allowed && !errors.Is(err, ceph.ErrDenied) {
			t.Errorf("%s: %s %v: allowed should be %v: %v", tc.reason, tc.prefix, tc.args, tc.allowed, err)
		}
	}
}
