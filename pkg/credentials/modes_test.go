package credentials

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func (f *fixture) syncContext() factory.SyncContext {
	return factory.NewSyncContext("test", f.recorder)
}

const advice = "ceph auth caps client.op mgr 'allow module volumes rw, allow module rbd_support rw' mon 'allow r, "

func TestPassthrough(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.settings.Credentials = driver.CredentialsPassthrough
	f.ceph.Stop()
	f.infraID("")
	if diff := cmp.Diff(f.both("op", "op"), f.sync()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
	f.expect(condition.CredentialsMinted, operatorv1.ConditionFalse, condition.Passthrough, "spec.driverConfig.ceph.credentials", "client.op")
	if granted, _ := f.controller.Granted.Get(); granted != f.place() {
		t.Errorf("granted %+v", granted)
	}
	if minted, known := f.config.Minted.Get(); minted || !known {
		t.Error("nobody is told that no users are made")
	}
	f.ceph.Start()
	f.ceph.AddUser("op")
	f.connect()
	if diff := cmp.Diff(f.both("op", "op"), f.sync()); diff != "" {
		t.Errorf("a new key of the operator's user follows (-want +got):\n%s", diff)
	}
}

// minting are the commands by which users are made, and the others that give a key or caps, or take them away.
var minting = []string{"auth get", "auth get-or-create", "auth caps", "auth get-or-create-key", "auth get-or-create-pending", "auth add", "auth import",
	"auth get-key", "auth print-key", "auth export", "auth ls", "auth rotate", "auth rm", "auth del", "fs authorize"}

// TestAutoInPart: a user that may make users in part can make itself an administrator.
func TestAutoInPart(t *testing.T) {
	for _, denied := range [][]string{{"auth get"}, {"auth get-or-create"}, {"auth get", "auth get-or-create"}, {"auth get-or-create", "auth caps"}} {
		f := newFixture(t, driver.RBD)
		f.ceph.Deny("op", denied...)
		f.connect()
		for range 3 {
			if got := f.later(); len(got) != 0 {
				t.Fatalf("%v: the operator's key was given away: %v", denied, got)
			}
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied,
				"client.op", denied[0], "it may send", "the rest is missing", advice, "Passthrough if every node may have the key")
		}
		f.ceph.Deny("op", minting...)
		for range 10 {
			f.later()
		}
		if diff := cmp.Diff(f.both("op", "op"), f.later()); diff != "" {
			t.Errorf("%v: without any of it, the key is passed on (-want +got):\n%s", denied, diff)
		}
	}
}

// TestAutoByOneCommand: each of them makes a key too much to be on every node.
func TestAutoByOneCommand(t *testing.T) {
	for _, one := range minting {
		f := newFixture(t, driver.RBD)
		f.ceph.Deny("op", slices.DeleteFunc(slices.Clone(minting), func(command string) bool { return command == one })...)
		f.connect()
		if got := f.later(); len(got) != 0 {
			t.Errorf("%s: the operator's key was given away: %v", one, got)
		}
		f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied, "client.op", fmt.Sprintf("it may send %q", one), advice)
		if writes := f.ceph.Writes(); len(writes) != 0 {
			t.Errorf("%s: trying it wrote %v", one, writes)
		}
	}
}

// TestAutoByNames: caps may be limited to users whose names begin alike, of which some can be tried.
func TestAutoByNames(t *testing.T) {
	for names, passedOn := range map[string]bool{"client.csi-": false, "client.o": false, "client.": false, "client.elsewhere-": true} {
		f := newFixture(t, driver.RBD)
		f.ceph.SetCaps("op", ceph.Caps{Mon: `allow r, allow command "auth caps" with entity prefix ` + names, OSD: "profile rbd"})
		f.connect()
		if got := f.later(); len(got) != 0 != passedOn {
			t.Errorf("names that begin with %s: the operator's key was given away: %t", names, !passedOn)
		}
	}
}

// older are mons that do not know a command.
type older struct{ Ceph }

func (o older) Try(ctx context.Context, trial ceph.Trial) error {
	if trial.Prefix == "auth rotate" {
		return &ceph.CommandError{Command: trial.Prefix, Errno: -int(syscall.EINVAL), Status: "command not known"}
	}
	return o.Ceph.Try(ctx, trial)
}

func TestAutoWithOlderMons(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.Deny("op", minting...)
	f.connect()
	f.session = older{f.session}
	if diff := cmp.Diff(f.both("op", "op"), f.sync()); diff != "" {
		t.Errorf("what nobody can send keeps nothing back (-want +got):\n%s", diff)
	}
}

func TestAutoFallsBack(t *testing.T) {
	const command = "auth get"
	f := newFixture(t, driver.RBD)
	f.ceph.Deny("op", minting...)
	f.connect()
	dials := f.ceph.Dials()
	for range 5 {
		if diff := cmp.Diff(f.both("op", "op"), f.later()); diff != "" {
			t.Fatalf("%s: Secrets (-want +got):\n%s", command, diff)
		}
		f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
		f.expect(condition.CredentialsMinted, operatorv1.ConditionFalse, condition.Passthrough, "client.op", command,
			// What CephFS is mounted with stays: the command replaces all caps.
			"ceph auth caps client.op mds 'allow rw' mgr 'allow module rbd_support rw, allow module volumes rw'", "osd 'allow rw tag cephfs data=*, allow rw tag cephfs metadata=*, profile rbd'")
	}
	told, _ := f.controller.Report.Get()
	if told.Mode != "Passthrough" || !strings.Contains(told.Reason, command) || len(told.Names) != 1 {
		t.Errorf("%s: report %+v", command, told)
	}
	if granted, _ := f.controller.Granted.Get(); granted != f.place() || len(f.ceph.Writes()) != 0 {
		t.Errorf("%s: granted %+v, writes %v", command, granted, f.ceph.Writes())
	}
	if f.ceph.Dials() != dials {
		t.Errorf("%s: Ceph is asked again after five minutes", command)
	}
	f.ceph.Deny("op")
	for range 10 {
		f.later()
	}
	if diff := cmp.Diff(f.minted(), f.later()); diff != "" {
		t.Errorf("%s: the right is noticed without a new keyring (-want +got):\n%s", command, diff)
	}
	if made := f.ceph.Dials() - dials; made == 0 || made > 11 {
		t.Errorf("%s: %d connections in ten minutes", command, made)
	}
}

// TestAutoStaysMinted: the operator's own key goes to all nodes only if a person wants that, or
// if the driver never had users of its own.
func TestAutoStaysMinted(t *testing.T) {
	tests := map[string]struct{ lost, restarted bool }{
		"may no longer read users":                {},
		"after restarts, too":                     {restarted: true},
		"whose Secrets are gone":                  {lost: true},
		"whose Secrets are gone, after a restart": {lost: true, restarted: true},
	}
	for reason, tc := range tests {
		f := newFixture(t, driver.RBD)
		f.sync()
		f.ceph.Deny(operatorUser, "auth get")
		if tc.lost {
			f.loseSecrets()
		}
		f.connect()
		for range 3 {
			if tc.restarted {
				f.restart()
			}
			got := f.later()
			if diff := cmp.Diff(f.minted(), got); diff != "" && len(got) > 0 {
				t.Fatalf("%s: Secrets (-want +got):\n%s", reason, diff)
			}
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied,
				"client.op", "auth get", advice, "Passthrough", "spec.driverConfig.ceph.credentials")
		}
		f.ceph.Deny(operatorUser)
		f.later()
		f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
		f.ceph.Deny(operatorUser, "auth get")
		f.settings.Credentials = driver.CredentialsPassthrough
		f.sync()
		f.settings.Credentials = driver.CredentialsAuto
		f.connect()
		if diff := cmp.Diff(f.both("op", "op"), f.later()); diff != "" {
			t.Errorf("%s: a person has handed the key out (-want +got):\n%s", reason, diff)
		}
	}
}

// loseSecrets has somebody delete the Secrets of the driver's users.
func (f *fixture) loseSecrets() {
	for name := range f.minted() {
		f.must(f.kube.CoreV1().Secrets(driver.Namespace).Delete(f.t.Context(), name, metav1.DeleteOptions{}))
		f.must(f.secrets.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: name}}))
	}
}

// TestAutoToldApart: a command that is refused is no proof that users cannot be made.
func TestAutoToldApart(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	f.ceph.Deny(operatorUser, "fs dump")
	f.connect()
	if got := f.sync(); len(got) != 0 {
		t.Errorf("the operator's key was given away: %v", got)
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied, "client.op", "fs dump", advice)
}

func TestMintDenied(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.settings.Credentials = driver.CredentialsMint
	f.sync()
	f.ceph.Deny("op", "auth get")
	f.connect()
	f.ceph.RemoveUser("csi-rbd-node.infra")
	f.later()
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied, "is Mint", "client.op", advice, "auth get")
	f.must(f.kube.CoreV1().Secrets(driver.Namespace).Delete(t.Context(), driver.RBD.NodeSecret(), metav1.DeleteOptions{}))
	f.must(f.secrets.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeSecret()}}))
	if diff := cmp.Diff(f.minted(), f.sync()); diff != "" {
		t.Errorf("the last good Secrets stay, against edits too (-want +got):\n%s", diff)
	}
	f.ceph.Deny("op")
	if diff := cmp.Diff(f.minted(), f.later()); diff != "" {
		t.Errorf("allowed again (-want +got):\n%s", diff)
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
}

func TestMintDeniedFromTheStart(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.settings.Credentials = driver.CredentialsMint
	f.ceph.Deny("op", "auth get-or-create")
	f.connect()
	if got := f.sync(); len(got) != 0 {
		t.Errorf("Secrets %v", got)
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied)
	if _, granted := f.controller.Granted.Get(); granted {
		t.Error("without users the class must not be usable")
	}
}

func TestModesAreSwitched(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	for range 2 {
		f.settings.Credentials = driver.CredentialsMint
		if diff := cmp.Diff(f.minted(), f.sync()); diff != "" {
			t.Errorf("Mint (-want +got):\n%s", diff)
		}
		f.settings.Credentials = driver.CredentialsPassthrough
		if diff := cmp.Diff(f.both("op", "op"), f.sync()); diff != "" {
			t.Errorf("Passthrough (-want +got):\n%s", diff)
		}
	}
	if _, kept := f.ceph.User("csi-cephfs-node.infra"); !kept {
		t.Error("mounts rest on the user")
	}
	f.settings.Credentials = driver.CredentialsMint
	f.ceph.Stop()
	if diff := cmp.Diff(f.both("op", "op"), f.later()); diff != "" {
		t.Errorf("no answer yet (-want +got):\n%s", diff)
	}
	f.expect(condition.CredentialsMinted, operatorv1.ConditionFalse, condition.Passthrough)
}

func TestNoInfraID(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.infraID("")
	if got := f.sync(); len(got) != 0 || len(f.ceph.Writes()) != 0 {
		t.Errorf("got Secrets %v, writes %v", got, f.ceph.Writes())
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.SyncError, "status.infrastructureName of Infrastructure cluster is empty", "Passthrough")
}

func TestNothingToDo(t *testing.T) {
	for reason, change := range map[string]func(*fixture){
		"Unmanaged":    func(f *fixture) { f.operator.SetState(operatorv1.Unmanaged) },
		"not deployed": func(f *fixture) { f.open = false },
		"not known":    func(f *fixture) { f.config.Cluster.Clear() },
	} {
		f := newFixture(t, driver.RBD)
		change(f)
		if got := f.sync(); len(got) != 0 || len(f.ceph.Writes()) != 0 {
			t.Errorf("%s: got Secrets %v, writes %v", reason, got, f.ceph.Writes())
		}
	}
}

// TestGateUndecided: good news before the gate has decided would be taken back when Ceph is asked.
func TestGateUndecided(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.open = false
	if f.sync(); f.operator.Condition(condition.CredentialsDegraded) != nil {
		t.Error("after a start, what stood last stands until it is known anew")
	}
}

func TestWriteFails(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("secrets"), driver.RBD.NodeSecret(), errBoom)
	for reason, tc := range map[string]struct {
		err  error
		want bool
	}{"a person has to know": {errBoom, true}, "the next try mends it": {conflict, false}} {
		f := newFixture(t, driver.RBD)
		f.kube.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
		if err := f.controller.Sync(t.Context(), f.syncContext()); !errors.Is(err, tc.err) {
			t.Errorf("%s: error %v, want %v", reason, err, tc.err)
		}
		got := f.operator.Condition(condition.CredentialsDegraded)
		if reported := got != nil && got.Status == operatorv1.ConditionTrue; reported != tc.want {
			t.Errorf("%s: condition %+v", reason, got)
		}
		if _, granted := f.controller.Granted.Get(); granted {
			t.Errorf("%s: without Secrets the class must not be usable", reason)
		}
		f.scan()
	}
}
