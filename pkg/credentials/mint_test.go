package credentials

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var rbdCaps = ceph.Caps{Mon: "profile rbd", Mgr: "profile rbd pool=infra-rbd", OSD: own}

func TestMint(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	files, err := driver.CephFS.Rights.Caps(t.Context(), f.session, "", []driver.Used{{Placement: f.place()}})
	f.must(err)
	want := map[string]ceph.Caps{
		"csi-rbd-provisioner.infra": rbdCaps,
		"csi-rbd-node.infra":        rbdCaps,
		"csi-cephfs-provisioner.infra": {Mon: "allow r", Mgr: files.Provisioner.Mgr, OSD: "allow rw namespace=infra tag cephfs metadata=fs, " +
			"allow rw namespace=infra tag cephfs storage.openshift.io.nodelete.infra.cephfs=in-use, " +
			"allow rw namespace=infra tag cephfs storage.openshift.io.nodelete.infra.cephfs=unprotected"},
		"csi-cephfs-node.infra": {Mon: "allow r", MDS: "allow rw fsname=fs path=/volumes/infra",
			Mgr: `allow command "fs subvolume info" with vol_name=fs group_name=infra, allow command "fs subvolume metadata set" with vol_name=fs key_name prefix .cephfs.csi.ceph.com/userid/ group_name=infra, ` +
				`allow command "fs subvolume snapshot info" with vol_name=fs group_name=infra, allow command "fs subvolume snapshot metadata set" with vol_name=fs key_name prefix .cephfs.csi.ceph.com/userid/ group_name=infra`,
			OSD: "allow r namespace=infra tag cephfs metadata=fs, " +
				"allow r namespace=infra tag cephfs storage.openshift.io.nodelete.infra.cephfs=in-use, " +
				"allow r namespace=infra tag cephfs storage.openshift.io.nodelete.infra.cephfs=unprotected, allow rw tag cephfs data=fs"},
	}
	for _, d := range driver.All {
		for _, mode := range []driver.CredentialsMode{"", driver.CredentialsAuto, driver.CredentialsMint} {
			f := newFixture(t, d)
			f.settings.Credentials = mode
			if diff := cmp.Diff(f.minted(), f.sync()); diff != "" {
				t.Errorf("%s %q: Secrets (-want +got):\n%s", d.Kind, mode, diff)
			}
			for _, id := range f.minted() {
				if user, _ := f.ceph.User(id); user.Caps != want[id] {
					t.Errorf("%s %q: %s has caps %s, want %s", d.Kind, mode, id, user.Caps, want[id])
				}
			}
			if granted, _ := f.controller.Granted.Get(); granted != f.place() {
				t.Errorf("%s %q: granted %+v", d.Kind, mode, granted)
			}
			if minted, known := f.config.Minted.Get(); !minted || !known {
				t.Errorf("%s %q: nobody is told that users were made", d.Kind, mode)
			}
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
			if said := f.operator.Condition(condition.CredentialsMinted); said != nil || !f.memory.users.Minted {
				t.Errorf("%s %q: condition %+v, though there is nothing to say; remembered %+v", d.Kind, mode, said, f.memory.users)
			}
			told, _ := f.controller.Report.Get()
			names := []string{"client." + d.NodeUser("infra"), "client." + d.ProvisionerUser("infra")}
			if diff := cmp.Diff(Users{Mode: "Mint", Names: names}, told); diff != "" {
				t.Errorf("%s %q: report (-want +got):\n%s", d.Kind, mode, diff)
			}
		}
	}
}

func TestSecondSyncWritesNothing(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.sync()
	writes, conditions, told := f.ceph.Writes(), f.operator.Writes(), len(f.recorder.Events())
	f.kube.ClearActions()
	for range 3 {
		f.must(f.controller.Sync(t.Context(), f.syncContext()))
		f.clock.SetTime(f.clock.Now().Add(interval))
	}
	if diff := cmp.Diff(writes, f.ceph.Writes()); diff != "" {
		t.Errorf("writes to Ceph (-want +got):\n%s", diff)
	}
	if f.operator.Writes() != conditions || len(f.recorder.Events()) != told || len(f.kube.Actions()) != 0 {
		t.Error("wrote a condition, an event or a Secret though nothing changed")
	}
}

func TestCapsAreCorrected(t *testing.T) {
	all := ceph.Caps{Mon: "allow *", Mgr: "allow *", OSD: "allow *", MDS: "allow *"}
	for reason, drifted := range map[string]ceph.Caps{
		"wider": all, "narrower": {Mon: "allow r"}, "another spelling": {Mon: rbdCaps.Mon, Mgr: rbdCaps.Mgr, OSD: rbdCaps.OSD + ", " + rbdCaps.OSD},
	} {
		f := newFixture(t, driver.RBD)
		f.sync()
		f.ceph.SetCaps("csi-rbd-node.infra", drifted)
		f.sync()
		if user, _ := f.ceph.User("csi-rbd-node.infra"); user.Caps != drifted {
			t.Errorf("%s: Ceph is asked once a minute, not at each wake-up", reason)
		}
		f.later()
		if user, _ := f.ceph.User("csi-rbd-node.infra"); user.Caps != rbdCaps {
			t.Errorf("%s: got caps %s, want %s", reason, user.Caps, rbdCaps)
		}
		if diff := cmp.Diff(map[string]int{"auth get-or-create": 2, "auth caps": 1}, f.ceph.Writes()); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", reason, diff)
		}
	}
}

func TestDeletedUserComesBack(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	f.sync()
	before := f.ceph.Credentials("csi-cephfs-node.infra")
	f.ceph.RemoveUser("csi-cephfs-node.infra")
	if diff := cmp.Diff(f.minted(), f.later()); diff != "" {
		t.Errorf("Secrets with the new key (-want +got):\n%s", diff)
	}
	if f.ceph.Credentials("csi-cephfs-node.infra").Key.Reveal() == before.Key.Reveal() {
		t.Error("the user made anew has the old key: this test shows nothing")
	}
}

func TestOutageWritesNothing(t *testing.T) {
	for reason, outage := range map[string]func(*fixture){
		"stopped": func(f *fixture) { f.ceph.Stop() },
		"hanging": func(f *fixture) { f.ceph.Hang() },
		"gone":    func(f *fixture) { f.session = nil },
	} {
		f := newFixture(t, driver.RBD)
		f.sync()
		writes := f.operator.Writes()
		f.kube.ClearActions()
		outage(f)
		f.class("fast", "fast")
		f.clock.SetTime(f.clock.Now().Add(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		f.must(f.controller.Sync(ctx, f.syncContext()))
		cancel()
		if f.operator.Writes() != writes || len(f.kube.Actions()) != 0 {
			t.Errorf("%s: wrote something", reason)
		}
		f.ceph.Start()
		f.connect()
		f.sync()
		if f.osdCaps() != andFast {
			t.Errorf("%s: after the outage: got caps %q, want %q", reason, f.osdCaps(), andFast)
		}
	}
}

func TestOutageAtTheStart(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.Stop()
	if got := f.sync(); len(got) != 0 {
		t.Errorf("Secrets without an answer: %v", got)
	}
	if _, granted := f.controller.Granted.Get(); granted || f.operator.Writes() != 0 {
		t.Error("nobody knows anything yet")
	}
}

func TestTwoOpenShiftClusters(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.sync()
	first := f.ceph.Credentials("csi-rbd-node.infra")
	f.infraID("other")
	f.restart()
	f.config.Placement.Set(ceph.Placement{FSID: f.place().FSID, Pool: "other-rbd"})
	want := f.both("csi-rbd-provisioner.other", "csi-rbd-node.other")
	if diff := cmp.Diff(want, f.later()); diff != "" {
		t.Errorf("Secrets of the second cluster (-want +got):\n%s", diff)
	}
	user, _ := f.ceph.User("csi-rbd-node.infra")
	if user.Caps != rbdCaps || user.Key.Reveal() != first.Key.Reveal() {
		t.Error("the second cluster touched the first one's user")
	}
	if other, _ := f.ceph.User("csi-rbd-node.other"); other.Caps.OSD != strings.ReplaceAll(own, "infra", "other") {
		t.Errorf("the second cluster's user has caps %s", other.Caps)
	}
}
